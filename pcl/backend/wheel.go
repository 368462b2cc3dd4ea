package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// How patient a download is.
const (
	indexTimeout  = 20 * time.Second // for the package index to answer
	idleTimeout   = 60 * time.Second // without a byte
	fetchAttempts = 3
)

// wheel is one file of the Python package index that carries a plugin.
type wheel struct {
	Package, Version string
	SHA256           string // of the wheel; empty: the index's own digest counts
}

// release looks the wheel up in the package index.
func (w wheel) release(ctx context.Context) (*installer.PipReleaseInfo, error) {
	info, err := packageInfo(ctx, w.Package)
	if err != nil {
		return nil, err
	}
	r, err := installer.PipSelectRelease(info.Releases[w.Version], installer.PipPackageLinuxAMD64(), true)
	if err != nil {
		return nil, fmt.Errorf("package index: %s %s: %w", w.Package, w.Version, err)
	}
	if w.SHA256 != "" && r.Digests["sha256"] != w.SHA256 {
		return nil, fmt.Errorf("package index: %s %s has SHA-256 %q, expected %q: refused", w.Package, w.Version, r.Digests["sha256"], w.SHA256)
	}
	if r.Digests["sha256"] == "" {
		return nil, fmt.Errorf("package index: %s %s has no SHA-256: refused", w.Package, w.Version)
	}
	if r.URL, err = absoluteURL(w.Package, r.URL); err != nil {
		return nil, fmt.Errorf("package index: %s %s: %w", w.Package, w.Version, err)
	}
	return r, nil
}

// absoluteURL resolves a link of the package index, whose mirrors answer with relative ones.
func absoluteURL(pkg, link string) (string, error) {
	base, err := url.Parse("https://pypi.org/pypi/" + pkg + "/json")
	if err != nil {
		return "", err
	}
	u, err := base.Parse(link)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// packageInfo asks the package index. The installer's call knows neither contexts nor time-outs.
func packageInfo(ctx context.Context, name string) (*installer.PipPackageInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	type answer struct {
		info *installer.PipPackageInfo
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		info, err := installer.GetPipInfo(name)
		done <- answer{info, err}
	}()
	select {
	case a := <-done:
		var unreachable *url.Error
		if errors.As(a.err, &unreachable) {
			return nil, fmt.Errorf("package index %s cannot be reached: %w", unreachable.URL, unreachable.Err)
		}
		if a.err != nil {
			return nil, fmt.Errorf("package index: %w", a.err)
		}
		return a.info, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("package index: no answer about %s: %w", name, ctx.Err())
	}
}

// fetch downloads r into path, unless a file with the right SHA-256 is there already.
// path appears only when its SHA-256 is right.
func fetch(ctx context.Context, r *installer.PipReleaseInfo, path string, progress io.Writer) error {
	want := r.Digests["sha256"]
	if sum, err := fileSHA256(path); err == nil && sum == want {
		return nil
	}
	var err error
	for attempt := range fetchAttempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(attempt) * time.Second):
			}
		}
		err = atomicfile.Write(path, func(w io.Writer) error {
			return download(ctx, r.URL, want, r.Filename, w, progress)
		})
		if err == nil || !isTransient(err) {
			return err
		}
	}
	return err
}

// transient marks errors that another attempt may cure.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

func isTransient(err error) bool {
	var t transient
	return errors.As(err, &t) && !errors.Is(err, context.Canceled)
}

// download copies link into w and fails unless the bytes have the SHA-256 want.
func download(ctx context.Context, link, want, title string, w, progress io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(idleTimeout, func() {
		cancel(fmt.Errorf("download %s: nothing received for %s", link, idleTimeout))
	})
	defer idle.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return transient{causeOf(ctx, err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("download %s: %s", link, resp.Status)
		if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
			return transient{err}
		}
		return err
	}
	bar := newBar(progress, resp.ContentLength, "Downloading "+title)
	hash := sha256.New()
	body := &aliveReader{resp.Body, func() { idle.Reset(idleTimeout) }}
	if _, err := io.Copy(io.MultiWriter(w, hash, bar), body); err != nil {
		return transient{fmt.Errorf("download %s: %w", link, causeOf(ctx, err))}
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != want {
		return fmt.Errorf("download %s: SHA-256 is %s, expected %s", link, sum, want)
	}
	return bar.Close()
}

// causeOf prefers the reason for which the context was cancelled to "context canceled".
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// aliveReader reports every read that brings bytes.
type aliveReader struct {
	io.Reader
	alive func()
}

func (r *aliveReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.alive()
	}
	return n, err
}

// fileSHA256 is the hexadecimal SHA-256 of a file.
func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
