package experiment

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
)

// fullDisk are the system's errors about a disk, or a user's share of it, that is full.
var fullDisk = []error{syscall.ENOSPC, syscall.EDQUOT}

func init() {
	if runtime.GOOS == "windows" { // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED
		fullDisk = []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}
	}
}

// isFull reports whether an error is about a full disk or an exhausted quota.
func isFull(err error) bool {
	return slices.ContainsFunc(fullDisk, func(e error) bool { return errors.Is(err, e) })
}
