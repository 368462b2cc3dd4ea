// Package terminal tells whether output goes to a terminal, and shows progress: as a bar there, and as lines elsewhere.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
