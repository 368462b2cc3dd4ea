// Command serve is the notebook kernel. The installer puts it into the kernel's folder, with a file that says what it works
// on; Jupyter starts it with the name of a connection file.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/engine"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "want the name of a connection file: Jupyter starts this program")
		os.Exit(2)
	}
	if err := serve(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve serves a notebook at the ports of a connection file.
func serve(ctx context.Context, connection string) error {
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
	e, err := engine.New(engine.Config{Go: s.Go, Module: s.Module, Dir: hosts, Host: h, Connection: connection})
	if err != nil {
		return err
	}
	return jupyter.Serve(ctx, connection, e)
}
