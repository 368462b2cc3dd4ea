//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

// fullErrors are the system's errors about a disk, or a user's share of it, that is full.
var fullErrors = []error{unix.ENOSPC, unix.EDQUOT}

// free returns the number of bytes that this user may still write to the file system of dir.
func free(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
