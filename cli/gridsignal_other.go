//go:build !unix

package cli

import "context"

// saveOnSignal is for systems whose schedulers announce nothing.
func saveOnSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
