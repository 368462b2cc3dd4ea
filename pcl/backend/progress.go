package backend

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newBar counts size bytes that are written to it: as a bar on a terminal, as one line at the
// start on any other writer. w may be nil.
func newBar(w io.Writer, size int64, title string) io.WriteCloser {
	switch {
	case w == nil:
		return silent{io.Discard}
	case !isTerminal(w):
		fmt.Fprintf(w, "%s (%.0f MB)\n", title, float64(size)/1e6)
		return silent{io.Discard}
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(title),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }),
	)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// silent counts nothing.
type silent struct{ io.Writer }

func (silent) Close() error { return nil }
