// Package terminal tells whether somebody watches: progress is a bar on a terminal, and lines
// elsewhere.
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
