package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/parallelcl/parallelcl/internal/printable"
)

const maxRedirects = 5

func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return fmt.Errorf("the server leads from https to %s", next.URL.Scheme)
	}
	return nil
}

// transient marks errors after which another attempt may succeed.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// Bytes downloads an address into memory, in a single attempt and within c.Window. It is an error
// if there are more than most bytes.
func (c *Client) Bytes(ctx context.Context, address string, most int64) (data []byte, err error) {
	c = c.limited()
	ctx, cancel := context.WithTimeoutCause(ctx, c.Window, fmt.Errorf("%w: no whole answer in %s", errSlow, c.Window))
	defer cancel()
	resp, err := c.get(ctx, address, 0)
	if err == nil {
		defer resp.Body.Close()
		data, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case int64(len(data)) > most:
		err = fmt.Errorf("the server sends more than %s", megabytes(most))
	}
	if err != nil {
		return nil, printable.Error(fmt.Errorf("download %s: %w", address, err))
	}
	return data, nil
}

// from asks for what follows the first have bytes of a file. It returns the byte at which the
// answer starts, which is 0 if the server knows no ranges.
func (c *Client) from(ctx context.Context, f File, have int64) (io.ReadCloser, int64, error) {
	resp, err := c.get(ctx, f.URL, have)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode == http.StatusOK {
		have = 0
	} else if r := resp.Header.Get("Content-Range"); !strings.HasPrefix(r, fmt.Sprintf("bytes %d-", have)) {
		err = transient{fmt.Errorf("%w: asked from byte %d, got range %.50q", errRange, have, r)}
	}
	if n := resp.ContentLength; err == nil && n >= 0 && have+n != f.Bytes {
		err = fmt.Errorf("the server offers %d bytes, the official file has %d: the address may have moved", have+n, f.Bytes)
	}
	if err != nil {
		resp.Body.Close()
	}
	return resp.Body, have, err
}

// get makes one request, for what follows the first have bytes. The server has these, or answers
// with all.
func (c *Client) get(ctx context.Context, address string, have int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return nil, fmt.Errorf("%q is not the scheme of a web address", s)
	}
	req.Header.Set("User-Agent", "parallelcl (+https://github.com/parallelcl/parallelcl)")
	req.Header.Set("Accept-Encoding", "identity") // the bytes are wanted, and counted, as they are
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := (&http.Client{CheckRedirect: checkRedirect}).Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // which does not repeat the address
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return nil, err
	}
	if err != nil {
		return nil, transient{err}
	}
	switch code := resp.StatusCode; {
	case code == http.StatusOK, have > 0 &&
		(code == http.StatusPartialContent || code == http.StatusRequestedRangeNotSatisfiable):
		return resp, nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		err = transient{fmt.Errorf("the server answers %d %s", code, http.StatusText(code))} // and not in its own words
	default:
		err = fmt.Errorf("the server answers %d %s", code, http.StatusText(code))
	}
	resp.Body.Close()
	return nil, err
}
