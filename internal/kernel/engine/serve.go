package engine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// Serve serves a notebook at the ports of a Jupyter connection file.
func Serve(ctx context.Context, connection string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(program)
	s, err := build.ReadSettings(dir)
	if err != nil {
		return err
	}
	hosts := filepath.Join(dir, build.HostDir)
	h, err := build.ReadHost(hosts)
	if err != nil { // Go's cache was cleaned
		if h, err = s.Go.Host(ctx, s.Module, hosts); err != nil {
			return err
		}
	}
	e, err := New(Config{Go: s.Go, Module: s.Module, Dir: hosts, Host: h, Connection: connection})
	if err != nil {
		return err
	}
	return jupyter.Serve(ctx, connection, e, jupyter.Info{Name: "parallelcl", Version: "1", Banner: "Go cells that share live state"})
}
