package nice

import "golang.org/x/sys/unix"

// lowest is the least priority of a thread.
const lowest = 19

// lowerThread lowers the priority of the thread that calls it. It cannot fail for a good reason,
// and then changes nothing.
func lowerThread(by int) {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the value
	if err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-raw+by, lowest))
	}
}
