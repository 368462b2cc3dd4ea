//go:build !unix

package cli

import "os"

// saveSignals are those by which a scheduler announces the end of a job.
var saveSignals []os.Signal
