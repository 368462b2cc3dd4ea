// Command serve is the notebook kernel. It translates each cell into a package, builds a plugin of it, and loads that into
// the process in which all cells live on; Jupyter's front ends talk to it by messaging protocol 5.5 with subshells, over
// ZeroMQ. The installer puts it into the kernel's folder; Jupyter starts it with the name of a connection file.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
)

func main() {
	program, err := os.Executable()
	if err == nil {
		err = serve(context.Background(), os.Args[1], func(s *server) (engine, error) {
			return newNotebook(filepath.Dir(program), s)
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}
