package disk

import "golang.org/x/sys/windows"

// fullErrors are the system's errors about a disk, or a user's share of it, that is full.
var fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

// free returns the number of bytes that this user may still write to the file system of dir.
func free(dir string) (int64, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var available uint64
	err = windows.GetDiskFreeSpaceEx(name, &available, nil, nil)
	return int64(available), err == nil
}
