//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// TestKilledKernelLeavesNothing: the folder of a killed kernel and the programs that its cells have
// started are gone when the next kernel serves.
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
			t.Errorf("%s: %v; that of the kernel that lives is %s", dir, expect.Text(err), first.dir)
		}
	}
	for name, pid := range pids {
		t.Run(name, func(t *testing.T) {
			if !ends(pid) {
				t.Errorf("%s, process %d, is there", name, pid)
			}
		})
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

// A damaged host is built again when the kernel starts, and a damaged package when the new process
// is asked for.
func TestDamagedHost(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first := begin(t)
	h := first.process.Load().Host
	old, err := os.Stat(h.Program)
	if err != nil {
		t.Fatal(err)
	}
	damaged := h.Program + ".damaged" // the other one runs
	if err := errors.Join(os.WriteFile(damaged, []byte("half"), 0o700), os.Rename(damaged, h.Program)); err != nil {
		t.Fatal(err)
	}
	s := new(session)
	s.client, _, _ = start(t, func(k *server) (_ engine, err error) {
		s.notebook, err = newNotebook(hosts, k)
		return s.notebook, err
	})
	switch got, err := s.run("1 + 1"); {
	case err != nil:
		t.Errorf("half a host: %v", err)
	case !strings.Contains(got, "is damaged: it has 4 bytes"):
		t.Errorf("half a host: got is %q; want %q in it", got, "is damaged: it has 4 bytes")
	case !strings.HasSuffix(got, "built again...\n2\n"):
		t.Errorf("half a host: got is %q; want %q at its end", got, "built again...\n2\n")
	}
	if now, err := os.Stat(h.Program); err != nil || now.Size() != old.Size() {
		t.Errorf("the host: %v, %v", now, expect.Text(err))
	}
	for _, p := range s.process.Load().Packages {
		if p.Path != "github.com/parallelcl/parallelcl/toy" {
			continue
		}
		if err := errors.Join(os.Chmod(p.Export, 0o600), os.Truncate(p.Export, 100)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.run("toy.Figure2().Steps")
	expect.Refusal(t, "half an archive", err, "is damaged", "%handover")
	switch got, err := s.run("%handover\ntoy.Figure2().Steps"); {
	case err != nil:
		t.Error(err)
	case !strings.HasSuffix(got, "\n1500\n"):
		t.Errorf("got is %q; want %q at its end", got, "\n1500\n")
	case strings.Count(got, "is damaged") != 1:
		t.Errorf("then %q, %v", got, err)
	}
}
