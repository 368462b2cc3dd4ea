//go:build cgo

package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"testing"
)

// TestHugePages: pcl runs with the setting, beside those that were there, and keeps another choice.
func TestHugePages(t *testing.T) {
	for given, want := range map[string]string{
		"":                            "glibc.malloc.hugetlb=1",
		"glibc.malloc.tcache_count=5": "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=5",
		"glibc.malloc.hugetlb=0":      "glibc.malloc.hugetlb=0",
	} {
		cmd := pclCommand("bench", "step", "--turns", "--method=avggrad", "--backend=go", "--batch=2")
		cmd.Env = append(os.Environ(), "GLIBC_TUNABLES="+given)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = nil
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says that it is ready
			t.Fatalf("%v: %s", err, stderrOf(cmd))
		}
		env, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, stderrOf(cmd))
		}
		env = bytes.ReplaceAll(env, []byte("\x00glibc"), []byte(":glibc")) // the C library cuts it while it reads
		if !bytes.Contains(append([]byte{0}, env...), []byte("\x00GLIBC_TUNABLES="+want+"\x00")) {
			t.Errorf("given %q: want %q in its environment %q", given, want, env)
		}
	}
}
