// Package download fetches files over HTTP from servers that are not trusted. Every download has a fixed size, a
// slowest rate and a number of attempts, and follows only a few redirects. Begin with [New] and [Client.To].
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// A File describes a file to be downloaded.
type File struct {
	URL   string
	Bytes int64 // its exact size
	// Check examines the complete file. If it returns an error, the file is deleted. If it is nil, any file is accepted.
	Check func(ctx context.Context, path string) error
}

// A Client downloads files, and continues downloads that an earlier attempt left incomplete. It must not be used by
// several goroutines at once.
type Client struct {
	Retries int           // how many attempts in a row may bring nothing, or too little
	Pause   time.Duration // before the second attempt; it doubles each time
	Window  time.Duration // a connection that is too slow for so long is given up
	// Bar returns what shows the progress of an attempt that starts with have bytes already there. The bytes that
	// follow are written to it. If Bar is nil, no progress is shown.
	Bar func(f File, have int64) io.WriteCloser
	// Again is called with the reason when another attempt is made.
	Again func(f File, err error)
	http  *http.Client
}

// New returns a client with the default limits.
func New() *Client {
	return &Client{Retries: 4, Pause: time.Second, Window: 30 * time.Second, http: newHTTP()}
}

// To downloads f to the file part. After an error, what has arrived is kept, and the next call continues from there,
// unless it was the wrong file: what an earlier attempt left of another edition is noticed by its length or by f.Check.
func (c *Client) To(ctx context.Context, f File, part string) error {
	resumed := size(part) > 0
	for {
		if err := c.whole(ctx, f, part); err != nil {
			return fmt.Errorf("download %s: %w", f.URL, err)
		}
		if f.Check == nil {
			return nil
		}
		err := f.Check(ctx, part)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		os.Remove(part)
		if !resumed {
			return fmt.Errorf("download %s: %w: what came was deleted", f.URL, err)
		}
		resumed = false // the part that was there may have been of another file: download all of it once more
	}
}

// whole makes attempts until the file part has f.Bytes bytes.
func (c *Client) whole(ctx context.Context, f File, part string) error {
	if size(part) > f.Bytes { // it is of another edition of the file
		os.Remove(part)
	}
	pause := c.Pause
	for attempts, failed := 1, 0; ; attempts, failed = attempts+1, failed+1 {
		before := size(part)
		err := c.attempt(ctx, f, part)
		if err == nil {
			return nil
		}
		have := size(part)
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after %s of %s, the next attempt goes on from there: %w", megabytes(have), megabytes(f.Bytes), context.Cause(ctx))
		}
		if have > before && !errors.Is(err, errSlow) {
			failed, pause = 0, c.Pause
		}
		if !isTransient(err) || failed >= c.Retries || attempts >= maxAttempts {
			return fmt.Errorf("%s of %s are here: %w", megabytes(have), megabytes(f.Bytes), err)
		}
		if c.Again != nil {
			c.Again(f, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// attempt makes one request for the bytes that the file part still lacks.
func (c *Client) attempt(ctx context.Context, f File, part string) error {
	have := size(part)
	if have == f.Bytes {
		return nil
	}
	ctx, received, stop := c.watch(ctx)
	defer stop()
	resp, err := c.get(ctx, f.URL, rangeFrom(have))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if have, err = startAt(resp, f, have); err != nil {
		if errors.Is(err, errStartOver) {
			os.Remove(part)
		}
		return err
	}
	bar := c.bar(f, have)
	defer bar.Close()
	err = save(resp.Body, f, have, part, func(piece []byte) {
		received.Add(int64(len(piece)))
		bar.Write(piece)
	})
	if isTransient(err) && ctx.Err() != nil {
		return transient{context.Cause(ctx)}
	}
	return err
}

// save writes the body of a response to the file part, after its first have bytes, and reports each piece.
func save(body io.Reader, f File, have int64, part string, report func([]byte)) (err error) {
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Truncate(have); err != nil {
		return err
	}
	if _, err := file.Seek(have, io.SeekStart); err != nil {
		return err
	}
	n, err := copyBody(file, body, f.Bytes-have, report)
	if err != nil {
		return err
	}
	if have+n < f.Bytes {
		return transient{errors.New("the connection ended early")}
	}
	return file.Sync()
}

// rangeFrom asks for what follows the first have bytes of a file.
func rangeFrom(have int64) http.Header {
	header := http.Header{}
	if have > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	return header
}

func (c *Client) bar(f File, have int64) io.WriteCloser {
	if c.Bar == nil {
		return none{io.Discard}
	}
	return c.Bar(f, have)
}

type none struct{ io.Writer }

func (none) Close() error { return nil }

// copyBody copies at most limit bytes and reports each piece. Errors from reading are transient; errors from writing,
// such as a full disk, are not.
func copyBody(w io.Writer, r io.Reader, limit int64, report func([]byte)) (int64, error) {
	buf := make([]byte, 1<<17)
	var done int64
	for {
		n, err := r.Read(buf)
		if done+int64(n) > limit {
			return done, fmt.Errorf("the server sends more than the %d bytes that are left of the file", limit)
		}
		if _, werr := w.Write(buf[:n]); werr != nil {
			return done, werr
		}
		done += int64(n)
		report(buf[:n])
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, transient{printable.Error(err)}
		}
	}
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
