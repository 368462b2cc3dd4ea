// Package terminal shows progress: in one line that changes on a terminal, and as a line every few
// seconds elsewhere.
package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Line shows how far something has come.
type Line struct {
	w     io.Writer
	live  bool
	every time.Duration
	last  time.Time
}

// NewLine returns a line on w. If w is nil, nothing is shown.
func NewLine(w io.Writer) *Line {
	l := &Line{w: w, live: Is(w), every: 5 * time.Second, last: time.Now()}
	if l.live {
		l.every = time.Second / 10
	}
	return l
}

// Show shows a text, on a terminal in place of the one before. It does nothing within 0.1 s of the
// last text on a terminal (5 s elsewhere), nor in the first such interval.
func (l *Line) Show(format string, values ...any) {
	if l.w == nil || time.Since(l.last) < l.every {
		return
	}
	l.last = time.Now()
	if text := fmt.Sprintf(format, values...); l.live {
		fmt.Fprint(l.w, wipe, l.fit(text))
	} else {
		fmt.Fprintln(l.w, text)
	}
}

// fit shortens a text to one line of the terminal, since only one is wiped.
func (l *Line) fit(text string) string {
	f, ok := l.w.(*os.File)
	if !ok {
		return text
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if letters := []rune(text); err == nil && width > 1 && len(letters) >= width {
		return string(letters[:width-2]) + "…"
	}
	return text
}

// wipe empties the line of a terminal.
const wipe = "\r\x1b[2K"

// Close removes the text from a terminal; elsewhere it does nothing. Its error is always nil.
func (l *Line) Close() error {
	if l.live {
		fmt.Fprint(l.w, wipe)
	}
	return nil
}
