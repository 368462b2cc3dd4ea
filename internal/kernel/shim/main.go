//go:build unix

// Command shim stands between Jupyter, GoNB and the tools that GoNB calls. It is one program under several names: Jupyter
// starts it as start, GoNB calls it as go, goimports and gopls. Each name does what a cell of this module needs and then
// leaves the rest to the program that it stands for.
//
// It uses the standard library only, because pcl kernel install builds it from the copy of its source in pcl.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// config is what pcl kernel install wrote about this kernel.
type config struct {
	Go     string // the go command
	Tools  string // the folder of GoNB, goimports and gopls
	Module string // the path of the module that cells import
	Source string // and its folder

	files string // the kernel's own folder
}

const configFile = "shim.json"

func main() {
	c, err := loadConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(c.call(filepath.Base(os.Args[0]), os.Args[1:]))
}

// call does what is asked under a name and returns the exit code.
func (c *config) call(name string, args []string) int {
	switch name {
	case "start":
		return c.start(args)
	case "go":
		return c.goCommand(args)
	case "goimports":
		return c.goimports(args)
	case "gopls":
		return c.gopls(args)
	}
	fmt.Fprintf(os.Stderr, "%s is no name of the kernel's programs\n", name)
	return 2
}

// loadConfig reads the configuration in the folder above the program's.
func loadConfig() (*config, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, err
	}
	c := &config{files: filepath.Dir(filepath.Dir(program))}
	data, err := os.ReadFile(filepath.Join(c.files, configFile))
	if err == nil {
		err = json.Unmarshal(data, c)
	}
	if err != nil {
		return nil, fmt.Errorf("the kernel's files are damaged (%w): run pcl kernel install", err)
	}
	return c, nil
}

// tool is the path of a pinned program.
func (c *config) tool(name string) string { return filepath.Join(c.Tools, "bin", name) }

// become replaces this program by another. It returns only if that fails.
func become(path string, args ...string) int {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
	return 1
}

// run runs a program and returns its exit code.
func run(path string, args ...string) int {
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// lines are the lines of a file in the kernel's folder.
func (c *config) lines(name string) []string {
	data, err := os.ReadFile(filepath.Join(c.files, name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}
