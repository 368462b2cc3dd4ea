package backend

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// wheel is one file of the Python package index that carries a plugin.
type wheel struct {
	Package, Version string
	Platform         string // as in "linux/amd64"
	SHA256           string // of the wheel; empty: the index's own digest counts
	Size             int64  // likewise
}

// release looks the wheel up in the package index.
func (w wheel) release(ctx context.Context) (*release, error) {
	index, err := ask(ctx, w.Package)
	if err != nil {
		return nil, err
	}
	return w.in(index)
}

// in looks the wheel up in an answer of the package index and refuses a wheel without a checksum.
func (w wheel) in(index *packageIndex) (*release, error) {
	fail := func(format string, args ...any) (*release, error) {
		return nil, printable.Error(fmt.Errorf("package index: %s %s "+format, append([]any{w.Package, w.Version}, args...)...))
	}
	r := index.wheel(w.Version, w.Platform)
	switch {
	case r == nil:
		return fail("has no file for %s", w.Platform)
	case r.Digests.SHA256 == "":
		return fail("has no SHA-256: refused")
	case w.SHA256 != "" && r.Digests.SHA256 != w.SHA256:
		return fail("has SHA-256 %q, expected %q: refused", r.Digests.SHA256, w.SHA256)
	case r.Size <= 0 || r.Size > maxWheel:
		return fail("has a size of %d bytes: refused", r.Size)
	case w.Size != 0 && r.Size != w.Size:
		return fail("has a size of %d bytes, expected %d: refused", r.Size, w.Size)
	}
	var err error
	if r.URL, err = absoluteURL(w.Package, r.URL); err != nil {
		return fail("is nowhere: %w", err)
	}
	return r, nil
}

// absoluteURL resolves a link of the package index, whose mirrors answer with relative ones.
func absoluteURL(pkg, link string) (string, error) {
	base, err := url.Parse(indexURL(pkg))
	if err != nil {
		return "", err
	}
	u, err := base.Parse(link)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// fetch downloads r to path, continuing an earlier download. A file with another SHA-256 is deleted.
func (r *release) fetch(ctx context.Context, path string, progress io.Writer) error {
	c := download.New()
	c.Bar = func(f download.File, have int64) io.WriteCloser {
		return newBar(progress, f.Bytes-have, "Downloading "+printable.Line(r.Filename))
	}
	c.Again = func(_ download.File, err error) {
		if progress != nil {
			fmt.Fprintf(progress, "%v: trying again\n", err)
		}
	}
	return c.To(ctx, download.File{URL: r.URL, Bytes: r.Size, Check: r.check}, path)
}

// check compares a file with the digest of the package index.
func (r *release) check(ctx context.Context, path string) error {
	sum, err := fileSHA256(ctx, path)
	if err == nil && sum != r.Digests.SHA256 {
		err = printable.Error(fmt.Errorf("SHA-256 is %s, expected %s", sum, r.Digests.SHA256))
	}
	return err
}
