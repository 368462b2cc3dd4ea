//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// start becomes GoNB, with the pinned tools and this program's names before all others. GoNB's log goes nowhere: without
// that it fills the terminal that Jupyter was started in. Errors are Jupyter's, as text: they outlive the export, where
// GoNB's own page needs a mouse and a running Jupyter.
func (c *config) start(args []string) int {
	if _, err := c.findGo(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	removeAbandoned(os.TempDir())
	list := string(filepath.ListSeparator)
	os.Setenv("PATH", filepath.Join(c.files, "bin")+list+filepath.Join(c.Tools, "bin")+list+os.Getenv("PATH"))
	os.Setenv("GOFLAGS", "-buildvcs=false -ldflags=-s")
	for _, name := range []string{"GOWORK", "GOOS", "GOARCH"} {
		os.Unsetenv(name)
	}
	flags := []string{"-raw_error", "-logtostderr=false", "-log_file=/dev/null", "-stderrthreshold=FATAL", "--kernel"}
	return become(c.tool("gonb"), append(flags, args...)...)
}

// findGo is the go command, wherever it has moved since the installation. It must not be this program, which would call
// itself for ever: start remembers it before PATH names this program.
func (c *config) findGo() (string, error) {
	const remembered = "PARALLELCL_GO"
	onPath, _ := exec.LookPath("go")
	for _, path := range []string{os.Getenv(remembered), c.Go, onPath} {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !isShim(path) {
			return path, os.Setenv(remembered, path)
		}
	}
	return "", fmt.Errorf("no Go: install it, then run pcl kernel install")
}

// isShim reports whether a program is this one, or that of another kernel, under another name.
func isShim(path string) bool {
	program, err := filepath.EvalSymlinks(path)
	return err == nil && filepath.Base(program) == "shim"
}
