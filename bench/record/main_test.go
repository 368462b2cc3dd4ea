package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// A run that ends before it can be interrupted says why.
func TestRunThatFailsBeforeItsInterruption(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a shell script")
	}
	program := filepath.Join(t.TempDir(), "pcl")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no such backend >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := part{interrupt: true}.begin(t.Context(), program, t.TempDir())
	if err == nil {
		t.Errorf("error %v", expect.Text(err))
	}
}
