//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a killed kernel has left, its folder and what its cells have started, is gone when the next one serves.
func TestKilledKernelLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first := begin(t)
	file := connectionFile(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "NOTEBOOK_KERNEL="+file, "NOTEBOOK_HOSTS="+hosts)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	c := dial(t, file, "front")
	pids := map[string]int{}
	for name, code := range map[string]string{
		"a command's child":             "!sleep 1000 >/dev/null 2>&1 & echo $!",
		"one in a session of its own":   "!setsid sleep 1000 >/dev/null 2>&1 & echo $!",
		"a child of a program of cells": `cmd := exec.Command("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!"); fmt.Print(string(must(cmd.Output())))`,
	} {
		_, out := c.run(code)
		var pid int
		if _, err := fmt.Sscan(text(out, "stdout"), &pid); err != nil {
			t.Fatal(name, out)
		}
		pids[name] = pid
	}
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Process.Kill()
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "parallelcl-notebook-*"))
	cmd.Process.Kill()
	cmd.Wait()
	s := begin(t)
	s.shows("1 + 1", "2")
	for _, dir := range left {
		if _, err := os.Stat(dir); (err == nil) != (dir == first.dir) {
			t.Errorf("%s: %v; that of the kernel that lives is %s", dir, err, first.dir)
		}
	}
	for name, pid := range pids {
		if !ends(pid) {
			t.Errorf("%s, process %d, is there", name, pid)
		}
	}
	if ended := syscall.Kill(other.Process.Pid, 0); ended != nil {
		t.Error("a process of others was ended")
	}
}

// ends waits for the end of a process.
func ends(pid int) bool {
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(10 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return true
		}
	}
	return false
}
