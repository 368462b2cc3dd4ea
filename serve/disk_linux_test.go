package serve

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// smallDisk puts a disk of its own at a folder, where that is allowed.
func smallDisk(t *testing.T, dir string) bool {
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32m,mode=0755") != nil {
		return false
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	return true
}
