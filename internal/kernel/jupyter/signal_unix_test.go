//go:build unix

package jupyter_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func terminate(p *os.Process) { p.Signal(syscall.SIGTERM) }

// A kernel whose Jupyter server is killed ends.
func TestParentEnds(t *testing.T) {
	file := connectionFile(t)
	server := exec.Command("sh", "-c", `JPY_PARENT_PID=$$ TOY_KERNEL="$1" "$2" & echo $!; wait`, "sh", file, os.Args[0])
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	c := dial(t, file, "front")
	c.until(c.cell("wait"), "execute_input")
	server.Process.Kill()
	for range 100 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			server.Wait()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the kernel runs on")
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(status), ") Z ")
}
