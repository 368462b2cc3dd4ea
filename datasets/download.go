package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// A getter downloads files over HTTP, resuming what an earlier attempt left.
type getter struct {
	client   *http.Client
	progress progress
	retries  int           // attempts in a row that may bring nothing
	pause    time.Duration // before the first retry; doubles each time
	stall    time.Duration // a connection that is silent for so long is given up
}

func newGetter(p progress) *getter {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 30 * time.Second
	t.DisableCompression = true // the bytes of an archive are wanted as they are
	return &getter{client: &http.Client{Transport: t}, progress: p, retries: 4, pause: time.Second, stall: time.Minute}
}

// A transientError is one that another attempt may cure.
type transientError struct{ error }

func (e transientError) Unwrap() error { return e.error }

func isTransient(err error) bool {
	_, ok := errors.AsType[transientError](err)
	return ok
}

// requestError strips the address, which the caller names, and decides whether to try again.
func requestError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return err
	}
	return transientError{err}
}

// get downloads s to the file part until it has s.Bytes bytes. On error what has arrived stays.
func (g *getter) get(ctx context.Context, s Source, part string) error {
	pause := g.pause
	for attempts, failed := 1, 0; ; attempts, failed = attempts+1, failed+1 {
		before := fileSize(part)
		err := g.attempt(ctx, s, part)
		if err == nil {
			return nil
		}
		have := fileSize(part)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: stopped after %s of %s, the next fetch goes on from there: %w", s.URL, megabytes(have), megabytes(s.Bytes), context.Cause(ctx))
		}
		if have > before {
			failed, pause = 0, g.pause
		}
		if !isTransient(err) || failed >= g.retries || attempts >= 100 {
			return fmt.Errorf("%s: %s of %s are here: %w", s.URL, megabytes(have), megabytes(s.Bytes), err)
		}
		g.progress.line("%s: %v: trying again", path.Base(s.URL), err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// attempt makes one request for what part still lacks.
func (g *getter) attempt(ctx context.Context, s Source, part string) error {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	have := fileSize(part)
	if have == s.Bytes {
		return nil
	}
	if have > s.Bytes {
		have = 0
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := g.request(ctx, s, part, have)
	if err != nil {
		return requestError(err)
	}
	defer resp.Body.Close()
	if have, err = startAt(resp, s, have); err != nil {
		if errors.Is(err, errStartOver) {
			f.Truncate(0)
		}
		return err
	}
	if have == 0 {
		if err := saveTag(part, resp.Header.Get("ETag")); err != nil {
			return err
		}
	}
	if err := f.Truncate(have); err != nil {
		return err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return err
	}
	watchdog := time.AfterFunc(g.stall, func() { cancel(fmt.Errorf("no data for %v", g.stall)) })
	defer watchdog.Stop()
	bar := g.progress.bar(path.Base(s.URL), have, s.Bytes)
	defer bar.close()
	n, err := copyBody(f, resp.Body, s.Bytes-have, func(n int) {
		watchdog.Reset(g.stall)
		bar.add(n)
	})
	if isTransient(err) && ctx.Err() != nil {
		return transientError{context.Cause(ctx)}
	}
	if err != nil {
		return err
	}
	if have+n < s.Bytes {
		return transientError{errors.New("the connection ended early")}
	}
	return f.Sync()
}

func (g *getter) request(ctx context.Context, s Source, part string, have int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "parallelcl (+https://github.com/parallelcl/parallelcl)")
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if tag := loadTag(part); tag != "" {
			req.Header.Set("If-Range", tag)
		}
	}
	return g.client.Do(req)
}

// errStartOver means that what has arrived is of no use.
var errStartOver = errors.New("the server does not go on from what is here")

// startAt reads from the response at which byte its body starts.
func startAt(resp *http.Response, s Source, have int64) (int64, error) {
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		have = 0
	case code == http.StatusPartialContent:
		if start, ok := rangeStart(resp.Header.Get("Content-Range")); !ok || start != have {
			return 0, transientError{fmt.Errorf("%w: asked from byte %d, got range %q", errStartOver, have, resp.Header.Get("Content-Range"))}
		}
	case code == http.StatusRequestedRangeNotSatisfiable:
		return 0, transientError{errStartOver}
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return 0, transientError{fmt.Errorf("the server answers %s", resp.Status)}
	default:
		return 0, fmt.Errorf("the server answers %s", resp.Status)
	}
	if resp.ContentLength >= 0 && have+resp.ContentLength != s.Bytes {
		return 0, fmt.Errorf("the server offers %d bytes, the official file has %d: the address may have moved", have+resp.ContentLength, s.Bytes)
	}
	return have, nil
}

// rangeStart reads the first number of "bytes 100-199/200".
func rangeStart(contentRange string) (int64, bool) {
	rest, ok := strings.CutPrefix(contentRange, "bytes ")
	first, _, dash := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return n, ok && dash && err == nil
}

// copyBody copies at most limit bytes and reports each piece. Errors of reading are transient,
// those of writing (a full disk) are not.
func copyBody(w io.Writer, r io.Reader, limit int64, report func(int)) (int64, error) {
	buf := make([]byte, 1<<17)
	var done int64
	for {
		n, err := r.Read(buf)
		if done+int64(n) > limit {
			return done, fmt.Errorf("the server sends more than the %d bytes of the official file", limit)
		}
		if _, werr := w.Write(buf[:n]); werr != nil {
			return done, werr
		}
		done += int64(n)
		report(n)
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, transientError{err}
		}
	}
}

// The tag beside a .part names the version of the file that it is a part of.
func tagFile(part string) string { return part + ".etag" }

func saveTag(part, tag string) error {
	if tag == "" || strings.HasPrefix(tag, "W/") { // a weak tag does not promise equal bytes
		os.Remove(tagFile(part))
		return nil
	}
	return atomicfile.WriteBytes(tagFile(part), []byte(tag))
}

func loadTag(part string) string {
	tag, _ := os.ReadFile(tagFile(part))
	return string(tag)
}

// forget removes a partial download.
func forget(part string) {
	os.Remove(part)
	os.Remove(tagFile(part))
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
