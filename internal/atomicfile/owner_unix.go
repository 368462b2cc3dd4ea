//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another file, as far as this user is allowed to.
func keepOwner(f *os.File, like fs.FileInfo) {
	if s, ok := like.Sys().(*syscall.Stat_t); ok && f.Chown(int(s.Uid), int(s.Gid)) != nil {
		f.Chown(-1, int(s.Gid))
	}
}
