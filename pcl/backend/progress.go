package backend

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/parallelcl/parallelcl/internal/terminal"
)

// newBar counts size bytes that are written to it: as a bar on a terminal, as one line at the
// start on any other writer. w may be nil.
func newBar(w io.Writer, size int64, title string) io.WriteCloser {
	switch {
	case w == nil:
		return silent{io.Discard}
	case !terminal.Is(w):
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

// silent counts nothing.
type silent struct{ io.Writer }

func (silent) Close() error { return nil }
