package download

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/printable"
)

const maxRedirects = 5

// newHTTP returns an HTTP client that limits the time and size of what a server sends before the body.
func newHTTP() *http.Client {
	transport := http.DefaultTransport
	if t, ok := transport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableCompression = true // the bytes are wanted, and counted, as they are
		t.MaxResponseHeaderBytes = 1 << 20
		transport = t
	}
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return fmt.Errorf("the server leads from https to %s", next.URL.Scheme)
	}
	return nil
}

// get makes one request. Its errors do not name the address; the caller adds it.
func (c *Client) get(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return nil, fmt.Errorf("%q is not the scheme of a web address", s)
	}
	req.Header = header
	req.Header.Set("User-Agent", "parallelcl (+https://github.com/parallelcl/parallelcl)")
	resp, err := c.http.Do(req)
	if err != nil && ctx.Err() != nil {
		return nil, transient{context.Cause(ctx)}
	}
	return resp, requestError(err)
}

// requestError decides whether another attempt may help. What a server says in place of HTTP is in
// the error's text.
func requestError(err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return printable.Error(err)
	}
	return transient{printable.Error(err)}
}

// transient marks errors after which another attempt may succeed.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

func isTransient(err error) bool {
	_, ok := errors.AsType[transient](err)
	return ok
}

// errStartOver says that what has arrived so far cannot be used, so that the download has to start again.
var errStartOver = errors.New("the server does not go on from what is here")

// startAt returns the byte of the file at which the body of a response starts.
func startAt(resp *http.Response, f File, have int64) (int64, error) {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if start, ok := rangeStart(resp.Header.Get("Content-Range")); !ok || start != have {
			return 0, transient{fmt.Errorf("%w: asked from byte %d, got range %.50q", errStartOver, have, resp.Header.Get("Content-Range"))}
		}
	case http.StatusRequestedRangeNotSatisfiable:
		return 0, transient{errStartOver}
	default:
		have = 0
		if err := checkStatus(resp); err != nil {
			return 0, err
		}
	}
	if resp.ContentLength >= 0 && have+resp.ContentLength != f.Bytes {
		return 0, fmt.Errorf("the server offers %d bytes, the official file has %d: the address may have moved", have+resp.ContentLength, f.Bytes)
	}
	return have, nil
}

// checkStatus returns an error unless the status code promises the file. The message explains the code in our own
// words and does not repeat text that the server sent.
func checkStatus(resp *http.Response) error {
	code := resp.StatusCode
	if code == http.StatusOK {
		return nil
	}
	err := fmt.Errorf("the server answers %d %s", code, http.StatusText(code))
	if code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout {
		return transient{err}
	}
	return err
}

// rangeStart reads the first number of "bytes 100-199/200".
func rangeStart(contentRange string) (int64, bool) {
	rest, ok := strings.CutPrefix(contentRange, "bytes ")
	first, _, dash := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return n, ok && dash && err == nil
}
