//go:build !linux && !darwin && !windows

package disk

import "syscall"

// fullErrors are the system's errors about a disk that is full.
var fullErrors = []error{syscall.ENOSPC}

// free is not known on this system.
func free(string) (int64, bool) { return 0, false }
