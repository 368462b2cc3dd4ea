//go:build unix

package pcl

import "syscall"

// cpuSeconds is the processor time that this process has used. On a machine with other work it says
// more than the clock.
func cpuSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
