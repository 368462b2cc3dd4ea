//go:build unix

package cli

import (
	"context"
	"os/signal"
	"syscall"
)

// saveOnSignal returns a context that ends with the signal, besides SIGTERM, by which schedulers
// announce the end of a job: sbatch --signal=USR1@60.
func saveOnSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGUSR1)
}
