package terminal

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar returns a writer that shows how much of a download has come, by what is written to it: as a bar on a terminal, and as
// a line for each tenth elsewhere. have of the total bytes are there already. If w is nil, nothing is shown.
func Bar(w io.Writer, title string, have, total int64) io.WriteCloser {
	switch {
	case w == nil:
		return &lines{w: io.Discard, done: have, total: total}
	case !Is(w):
		return &lines{w: w, title: title, done: have, total: total}
	}
	b := progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(title),
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }))
	b.Set64(have)
	return b
}

// lines are the progress of a download where there is no terminal.
type lines struct {
	w           io.Writer
	title       string
	done, total int64
}

func (l *lines) Write(p []byte) (int, error) {
	before := l.done * 10 / max(l.total, 1)
	l.done += int64(len(p))
	if tenths := l.done * 10 / max(l.total, 1); tenths > before {
		fmt.Fprintf(l.w, "%s: %d %% of %.1f MB\n", l.title, 10*tenths, float64(l.total)/1e6)
	}
	return len(p), nil
}

func (l *lines) Close() error { return nil }
