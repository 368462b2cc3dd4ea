//go:build unix

package cli

import (
	"os"
	"syscall"
)

// saveSignals are those by which a scheduler announces the end of a job, besides SIGTERM: sbatch --signal=USR1@60.
var saveSignals = []os.Signal{syscall.SIGUSR1}
