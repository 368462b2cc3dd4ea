package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kept are copies of the standard output and error as they were at the beginning, which no cell can
// close.
var kept = map[int]int{}

func keepStreams() {
	for fd := 1; fd <= 2; fd++ {
		if copy, err := syscall.Dup(fd); err == nil {
			syscall.CloseOnExec(copy)
			kept[fd] = copy
		}
	}
}

// reopen opens the standard output and error again, if a cell has closed them. If another file has
// taken their number since, it keeps the number.
func reopen() {
	for fd, file := range map[int]**os.File{1: &os.Stdout, 2: &os.Stderr} {
		if _, err := (*file).Stat(); err == nil {
			continue
		}
		copy, err := unix.FcntlInt(uintptr(kept[fd]), unix.F_DUPFD, fd) // its own number, if that is free
		if err != nil {
			continue
		}
		if copy != fd {
			syscall.CloseOnExec(copy)
		}
		*file = os.NewFile(uintptr(copy), (*file).Name())
	}
}

// endChildren ends the programs that were started since a moment, with those that they have
// started. It finds them where the system has them in /proc.
func endChildren(since time.Time) {
	up, _ := os.ReadFile("/proc/uptime")
	var now float64
	fmt.Sscan(string(up), &now)
	const tick = 100 // of these a second has, in /proc
	begin := (now - time.Since(since).Seconds()) * tick
	children := map[int][]int{} // by their parents
	begun := map[int]float64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), ") ") // behind its name
		var pid, parent int
		fmt.Sscan(string(text), &pid)
		if f := strings.Fields(rest); len(f) > 19 {
			var at float64
			fmt.Sscan(f[1], &parent)
			fmt.Sscan(f[19], &at)
			children[parent], begun[pid] = append(children[parent], pid), at
		}
	}
	var list []int
	for _, child := range children[os.Getpid()] {
		if begun[child] >= begin-1 {
			list = append(list, child)
		}
	}
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	for _, pid := range list {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}
