package backend

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/parallelcl/parallelcl/internal/terminal"
)

// newBar counts size bytes that are written to it: as a bar on a terminal, as one line at the
// start on any other writer.
func newBar(w io.Writer, size int64, title string) io.WriteCloser {
	to := w
	if !terminal.Is(w) {
		fmt.Fprintf(w, "%s (%.0f MB)\n", title, float64(size)/1e6)
		to = io.Discard
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetDescription(title),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(to) }),
	)
}
