// Package download fetches files over HTTP from servers that are not trusted. A download has a
// known size and SHA-256, a slowest rate and a number of attempts, and continues what an earlier
// one left. Begin with [Client.To].
package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/stamp"
	"github.com/parallelcl/parallelcl/internal/terminal"
)

// A File describes a file to be downloaded.
type File struct {
	URL    string
	Bytes  int64
	SHA256 string // in hexadecimal digits
}

// A Client downloads files. The zero value is ready to use.
type Client struct {
	Progress io.Writer     // is told how far a download has come, and of further attempts; nil for silence
	Retries  int           // how many attempts in a row may bring nothing, or too little; 0 stands for 4
	Pause    time.Duration // before the second attempt; it doubles each time; 0 stands for a second
	Window   time.Duration // a connection that is too slow for so long is given up; 0 stands for half a minute
}

// limited returns the client with limits in the places of zeros.
func (c *Client) limited() *Client {
	return &Client{c.Progress, cmp.Or(c.Retries, 4), cmp.Or(c.Pause, time.Second), cmp.Or(c.Window, 30*time.Second)}
}

const (
	slowest     = 4 << 10 // bytes per second: a modem of the last century brings 5 kB/s
	maxAttempts = 100     // even if each of them brings something
)

var (
	errSlow  = errors.New("too slow")
	errRange = errors.New("the server does not go on from what is here")
	errOther = errors.New("another file came than should")
)

// To downloads f to the file part. After an error, what has arrived is kept, and the next call
// continues from there, unless it was the wrong file, which is deleted.
func (c *Client) To(ctx context.Context, f File, part string) error {
	c = c.limited()
	resumed := size(part) > 0
	err := c.whole(ctx, f, part)
	if resumed && errors.Is(err, errOther) { // what was there may have been of another edition
		err = c.whole(ctx, f, part)
	}
	if err != nil {
		return printable.Error(fmt.Errorf("download %s: %w", f.URL, err))
	}
	return nil
}

// whole makes attempts until the file part has f.Bytes bytes, and checks it.
func (c *Client) whole(ctx context.Context, f File, part string) error {
	if size(part) > f.Bytes {
		os.Remove(part)
	}
	pause := c.Pause
	for attempts, failed := 1, 0; size(part) != f.Bytes; attempts, failed = attempts+1, failed+1 {
		before := size(part)
		err := c.attempt(ctx, f, part)
		if err == nil {
			break
		}
		have := size(part)
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after %s of %s, the next attempt goes on from there: %w", megabytes(have),
				megabytes(f.Bytes), context.Cause(ctx))
		}
		if have > before && !errors.Is(err, errSlow) {
			failed, pause = 0, c.Pause
		}
		if !errors.As(err, new(transient)) || failed >= c.Retries || attempts >= maxAttempts {
			return fmt.Errorf("%s of %s are here: %w", megabytes(have), megabytes(f.Bytes), err)
		}
		c.say("%s: %v: trying again\n", path.Base(f.URL), err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause *= 2
	}
	sum, err := stamp.Sum(ctx, part)
	if err == nil && sum != f.SHA256 {
		os.Remove(part)
		err = fmt.Errorf("%w, and was deleted: its SHA-256 is %s; want %s. If that comes again, the publisher has changed it",
			errOther, sum, f.SHA256)
	}
	return err
}

// say writes a line to Progress.
func (c *Client) say(format string, values ...any) {
	if c.Progress != nil {
		fmt.Fprint(c.Progress, printable.Text(fmt.Sprintf(format, values...)))
	}
}

// attempt makes one request for the bytes that the file part still lacks.
func (c *Client) attempt(ctx context.Context, f File, part string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	window := max(1, int64(slowest*c.Window.Seconds()))
	slow := time.AfterFunc(c.Window, func() {
		cancel(fmt.Errorf("%w: less than %d bytes came in %s", errSlow, window, c.Window))
	})
	defer slow.Stop()
	body, have, err := c.from(ctx, f, size(part))
	if errors.Is(err, errRange) {
		os.Remove(part)
	}
	if err == nil {
		defer body.Close()
		err = c.save(body, f, have, part, window, func() { slow.Reset(c.Window) })
	}
	if err != nil && ctx.Err() != nil {
		return transient{context.Cause(ctx)}
	}
	return err
}

// save writes the rest of a file, after its first have bytes, and calls enough whenever a window's
// bytes have come.
func (c *Client) save(body io.Reader, f File, have int64, part string, window int64, enough func()) (err error) {
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Truncate(have); err != nil {
		return err
	}
	shown := &bar{terminal.NewLine(c.Progress), printable.Line(path.Base(f.URL)), time.Now(), have, have, f.Bytes}
	defer shown.Close()
	to := io.MultiWriter(file, shown)
	for have < f.Bytes {
		n, err := io.CopyN(to, body, min(window, f.Bytes-have))
		if have += n; err != nil {
			return fromBody(err)
		}
		enough()
	}
	return file.Sync()
}

// fromBody is an error of copying a body to a file: unless the file cannot be written, as on a full
// disk, another attempt may help.
func fromBody(err error) error {
	switch {
	case errors.As(err, new(*fs.PathError)):
		return err
	case errors.Is(err, io.EOF):
		err = errors.New("the connection ended early")
	}
	return transient{err}
}

// bar shows how much of a file has come, by what is written to it.
type bar struct {
	*terminal.Line
	title            string
	begin            time.Time
	had, done, total int64
}

func (b *bar) Write(p []byte) (int, error) {
	b.done += int64(len(p))
	took, here := time.Since(b.begin), float64(b.done-b.had)
	b.Show("%s: %.0f of %s, %.1f MB/s%s", b.title, float64(b.done)/1e6, megabytes(b.total), here/1e6/took.Seconds(),
		terminal.Left(took, here, float64(b.total-b.done)))
	return len(p), nil
}

// size returns the number of bytes of a file, or 0 if it does not exist.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
