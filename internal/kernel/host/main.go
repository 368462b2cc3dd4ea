// Command host is the process in which the cells of a notebook run. The kernel builds it with a further file, which imports
// every package that cells can import, so that all cells share them.
package main

import "github.com/parallelcl/parallelcl/internal/kernel/rt"

func main() { rt.Serve() }
