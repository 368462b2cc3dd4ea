package atomicfile

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir writes to the disk which files a folder has, where the system can.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
