package build

import "os/exec"

// Group leaves a command as it is.
func Group(*exec.Cmd) {}
