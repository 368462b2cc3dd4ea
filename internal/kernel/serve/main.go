// Command serve is the notebook kernel. The installer puts it into the kernel's folder, with a file that says what it works
// on; Jupyter starts it with the name of a connection file.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/internal/kernel/engine"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "want the name of a connection file: Jupyter starts this program")
		os.Exit(2)
	}
	if err := engine.Serve(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
