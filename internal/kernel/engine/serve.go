package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// Settings are what the installer tells the kernel, in a file beside its program.
type Settings struct {
	Module string // the module's folder
	Go     *build.Go
}

// settingsFile lies beside the kernel's program.
const settingsFile = "kernel-settings.json"

// hostDir is the folder of the hosts, beside the kernel's program.
const hostDir = "host"

// Install builds a module's host in the folder of a kernel, and writes what the kernel needs to know.
func Install(ctx context.Context, dir, module, goCommand string) error {
	g, err := build.FindTools(ctx, goCommand, module)
	if err != nil {
		return err
	}
	if _, err := g.Host(ctx, module, filepath.Join(dir, hostDir)); err != nil {
		return err
	}
	data, err := json.MarshalIndent(Settings{module, g}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, settingsFile), append(data, '\n'))
}

// Serve serves a notebook at the ports of a Jupyter connection file.
func Serve(ctx context.Context, connection string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(program)
	data, err := os.ReadFile(filepath.Join(dir, settingsFile))
	if err != nil {
		return err
	}
	var s Settings
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%s: %w", settingsFile, err)
	}
	hosts := filepath.Join(dir, hostDir)
	h, err := build.ReadHost(hosts)
	if err != nil { // Go's cache was cleaned
		if h, err = s.Go.Host(ctx, s.Module, hosts); err != nil {
			return err
		}
	}
	e, err := New(Config{Go: s.Go, Module: s.Module, Dir: hosts, Host: h})
	if err != nil {
		return err
	}
	return jupyter.Serve(ctx, connection, e, jupyter.Info{Name: "parallelcl", Version: "1", Banner: "Go cells that share live state"})
}
