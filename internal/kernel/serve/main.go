// Command serve is the notebook kernel. The installer puts it into the kernel's folder; Jupyter starts it with the name of a
// connection file.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/engine"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

func main() {
	program, err := os.Executable()
	if err == nil {
		var e *engine.Engine
		if e, err = engine.New(filepath.Dir(program), os.Args[1]); err == nil {
			err = jupyter.Serve(context.Background(), os.Args[1], e)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}
