// Package disk knows the errors of a disk that is full.
package disk

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
)

// full are the system's errors about a disk, or a user's share of it, that is full.
var full = []error{syscall.ENOSPC, syscall.EDQUOT}

func init() {
	if runtime.GOOS == "windows" { // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED
		full = []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}
	}
}

// Full reports whether an error is about a full disk or an exhausted quota.
func Full(err error) bool {
	return slices.ContainsFunc(full, func(e error) bool { return errors.Is(err, e) })
}
