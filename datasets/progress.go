package datasets

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/parallelcl/parallelcl/internal/terminal"
)

// progress reports to a writer: a bar on a terminal, lines elsewhere, nothing where w is nil.
type progress struct{ w io.Writer }

func (p progress) line(format string, args ...any) {
	if p.w != nil {
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// bar starts a bar at have of total bytes.
func (p progress) bar(name string, have, total int64) *bar {
	if p.w == nil {
		return &bar{}
	}
	if !terminal.Is(p.w) {
		return &bar{p: p, name: name, done: have, total: total, said: have * 10 / total}
	}
	b := progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(name),
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth())
	b.Set64(have)
	return &bar{p: p, term: b}
}

// A bar is the progress of one download, which is written to it.
type bar struct {
	p           progress
	term        *progressbar.ProgressBar
	name        string
	done, total int64
	said        int64 // tenths reported so far
}

// Write counts what has come.
func (b *bar) Write(p []byte) (int, error) {
	if b.term != nil {
		b.term.Add(len(p))
	}
	if b.total == 0 {
		return len(p), nil
	}
	b.done += int64(len(p))
	if tenths := b.done * 10 / b.total; tenths > b.said {
		b.said = tenths
		b.p.line("%s: %d %% of %.1f MB", b.name, 10*tenths, float64(b.total)/1e6)
	}
	return len(p), nil
}

// Close ends the line of the bar.
func (b *bar) Close() error {
	if b.term != nil {
		b.p.line("")
	}
	return nil
}
