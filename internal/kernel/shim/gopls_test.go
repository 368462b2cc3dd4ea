//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary stand for the shim.
func TestMain(m *testing.M) {
	if tools := os.Getenv("SHIM_TEST_TOOLS"); tools != "" {
		os.Exit((&config{Tools: tools}).gopls(os.Args[1:]))
	}
	if os.Getenv("SHIM_TEST_GO") != "" {
		os.Exit((&config{}).goCommand(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// startGopls starts the shim as gopls, as the child of a shell, over a program in place of the real one. It returns the
// shell, the shim's process and its socket.
func startGopls(t *testing.T, program string) (parent *exec.Cmd, pid int, socket string) {
	t.Helper()
	tools, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(tools, "bin", "gopls"), "#!/bin/sh\n"+program+"\n")
	if err := os.Chmod(filepath.Join(tools, "bin", "gopls"), 0o700); err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	parent = exec.Command("/bin/sh", "-c", `"$@" >"$0" 2>&1 & echo $! >"$0.pid"; wait`, filepath.Join(dir, "out"), os.Args[0], "-listen", "unix;"+socket)
	parent.Env = append(os.Environ(), "SHIM_TEST_TOOLS="+tools)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { parent.Process.Kill(); parent.Wait() })
	within10s(t, "the shim is there", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "out.pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		_, err := os.Stat(socket)
		return pid > 0 && err == nil
	})
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return parent, pid, socket
}

// dial connects to the socket, which is a file for a moment before anybody listens to it.
func dial(t *testing.T, socket string) (conn net.Conn) {
	t.Helper()
	within10s(t, "the shim listens", func() bool {
		var err error
		conn, err = net.Dial("unix", socket)
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
	return conn
}

func within10s(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("after 10 s it is not so that %s", what)
}

// runs says whether a process is there and not only waited for.
func runs(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestGoplsServesOneConnection(t *testing.T) {
	_, pid, socket := startGopls(t, `echo "called $1"; exec cat`)
	conn := dial(t, socket)
	if _, err := conn.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	var got string
	for buf := make([]byte, 100); got != "called serve\nquestion"; {
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := conn.Read(buf)
		if got += string(buf[:n]); err != nil {
			t.Fatalf("%v after %q", err, got)
		}
	}
	conn.Close()
	within10s(t, "gopls ends with the connection", func() bool { return !runs(pid) })
}

func TestGoplsEndsWithGoNB(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a program with its parent")
	}
	for _, connected := range []bool{false, true} {
		parent, pid, socket := startGopls(t, "while :; do sleep 1; done") // too busy to see that the connection ends
		if connected {
			dial(t, socket)
			within10s(t, "gopls has taken over", func() bool {
				out, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
				return strings.Contains(string(out), "serve")
			})
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		parent.Wait()
		within10s(t, "gopls is gone", func() bool { return !runs(pid) })
	}
}

func TestAbandonedFoldersGo(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "gonb_1", ownerFile), owner(ended.Process.Pid))
	write(t, filepath.Join(dir, "gonb_2", ownerFile), owner(os.Getpid()))
	write(t, filepath.Join(dir, "gonb_3", "main.go"), "")
	write(t, filepath.Join(dir, "gonb_4", ownerFile), strconv.Itoa(ended.Process.Pid)+" elsewhere pid:[1]")
	removeAbandoned(dir)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 3 || filepath.Base(left[0]) != "gonb_2" {
		t.Errorf("left: %v, %v", left, err)
	}
}
