// Package download fetches files over HTTP, from servers that nobody has vouched for: every download
// has a size, a slowest rate and a time limit, and follows few redirects.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/internal/disk"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// A File is what is to be downloaded.
type File struct {
	URL   string
	Bytes int64 // its size: no more is written, and less is not enough
	// Check examines the whole file; one that fails is deleted. nil takes any.
	Check func(ctx context.Context, path string) error
}

// A Client downloads files, resuming what an earlier attempt left. It is not safe for use by several
// goroutines.
type Client struct {
	Limits
	// Bar shows the progress of an attempt that starts at have: it is told the bytes that follow. nil
	// shows none.
	Bar func(f File, have int64) io.WriteCloser
	// Again is told why another attempt is made.
	Again func(f File, err error)
	http  *http.Client
}

// New returns a client with the default limits.
func New() *Client { return &Client{Limits: defaultLimits, http: newHTTP()} }

// To downloads f to the file part. On an error what has arrived stays, and the next call goes on from
// there, unless it was the wrong file.
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
		Forget(part)
		if !resumed {
			return fmt.Errorf("download %s: %w: what came was deleted", f.URL, err)
		}
		resumed = false // its beginning may have been of another file: once more, all of it
	}
}

// whole makes attempts until part has f.Bytes bytes.
func (c *Client) whole(ctx context.Context, f File, part string) error {
	if err := disk.Room(filepath.Dir(part), f.Bytes-size(part)); err != nil {
		return err
	}
	limited, cancel := c.withTimeLimit(ctx, f.Bytes-size(part))
	defer cancel()
	pause := c.Pause
	for attempts, failed := 1, 0; ; attempts, failed = attempts+1, failed+1 {
		before := size(part)
		err := c.attempt(limited, f, part)
		if err == nil {
			return nil
		}
		have := size(part)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("stopped after %s of %s, the next attempt goes on from there: %w", megabytes(have), megabytes(f.Bytes), context.Cause(ctx))
		case limited.Err() != nil:
			return fmt.Errorf("%s of %s are here: %w", megabytes(have), megabytes(f.Bytes), context.Cause(limited))
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
		case <-limited.Done():
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// attempt makes one request for what part still lacks.
func (c *Client) attempt(ctx context.Context, f File, part string) error {
	have := size(part)
	if have == f.Bytes {
		return nil
	}
	if have > f.Bytes {
		have = 0
	}
	ctx, received, stop := c.watch(ctx)
	defer stop()
	resp, err := c.get(ctx, f.URL, partHeader(part, have))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if have, err = startAt(resp, f, have); err != nil {
		if errors.Is(err, errStartOver) {
			Forget(part)
		}
		return err
	}
	bar := c.bar(f, have)
	defer bar.Close()
	err = save(resp, f, have, part, func(piece []byte) {
		received.Add(int64(len(piece)))
		bar.Write(piece)
	})
	if isTransient(err) && ctx.Err() != nil {
		return transient{context.Cause(ctx)}
	}
	return disk.Explain(err, filepath.Dir(part))
}

// save writes a body behind the first have bytes of part, and reports its pieces.
func save(resp *http.Response, f File, have int64, part string, report func([]byte)) (err error) {
	if have == 0 {
		if err := saveTag(part, resp.Header.Get("ETag")); err != nil {
			return err
		}
	}
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
	n, err := copyBody(file, resp.Body, f.Bytes-have, report)
	if err != nil {
		return err
	}
	if have+n < f.Bytes {
		return transient{errors.New("the connection ended early")}
	}
	return file.Sync()
}

func (c *Client) bar(f File, have int64) io.WriteCloser {
	if c.Bar == nil {
		return none{io.Discard}
	}
	return c.Bar(f, have)
}

type none struct{ io.Writer }

func (none) Close() error { return nil }

// copyBody copies at most limit bytes and reports each piece. Errors of reading are transient,
// those of writing (a full disk) are not.
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

// size is the number of bytes of a file, 0 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
