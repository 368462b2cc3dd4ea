// Command serve is the notebook kernel. The installer puts it into the kernel's folder, with a file that says what it works
// on; Jupyter starts it with the name of a connection file.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/engine"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

func main() {
	if err := serve(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// serve serves a notebook at the ports of a connection file.
func serve(connection string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(program)
	s, err := build.ReadSettings(dir)
	if err != nil {
		return err
	}
	e, err := engine.New(s, filepath.Join(dir, build.HostDir), connection)
	if err != nil {
		return err
	}
	return jupyter.Serve(context.Background(), connection, e)
}
