package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"time"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/terminal"
)

// Limits on the time and the size of the package index's answers. The longest answers about packages have some megabytes.
const (
	indexTimeout = 20 * time.Second
	maxIndex     = 16 << 20
)

// packageIndex is what the package index says about a package.
type packageIndex struct {
	installer.PipPackageInfo
	Releases map[string][]release `json:"releases"` // by version
}

// release is one file of a package.
type release struct {
	Filename string `json:"filename"`
	URL      string `json:"url"`
	Size     int64  `json:"size"`
	Digests  struct {
		SHA256 string `json:"sha256"`
	} `json:"digests"`
}

// ask asks the package index about a package.
func ask(ctx context.Context, name string) (*packageIndex, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, indexTimeout, fmt.Errorf("no answer for %s", indexTimeout))
	defer cancel()
	address := &url.URL{Scheme: "https", Host: "pypi.org", Path: "/pypi/" + name + "/json"}
	data, err := download.New().Bytes(ctx, address.String(), maxIndex)
	if err != nil {
		return nil, fmt.Errorf("package index: %w", err)
	}
	var answer packageIndex
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("package index: the answer of %s is not what it should be (is there a proxy or a login page in between?): %w", address, printable.Error(err))
	}
	for _, files := range answer.Releases {
		for i := range files {
			if u, err := address.Parse(files[i].URL); err == nil { // mirrors answer with relative addresses
				files[i].URL = u.String()
			}
		}
	}
	return &answer, nil
}

// wheel is one file of the package index.
type wheel struct {
	Package, Version string
	Platform         *regexp.Regexp // of the file's name
	SHA256           string         // empty: the index's own digest counts
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
	for _, r := range index.Releases[w.Version] {
		switch sum := r.Digests.SHA256; {
		case w.Platform == nil || !w.Platform.MatchString(r.Filename):
			continue
		case sum == "":
			return nil, fmt.Errorf("package index: %s %s has no SHA-256: refused", w.Package, w.Version)
		case w.SHA256 != "" && sum != w.SHA256:
			return nil, fmt.Errorf("package index: %s %s has SHA-256 %q; want %q: refused", w.Package, w.Version, sum, w.SHA256)
		}
		return &r, nil
	}
	return nil, fmt.Errorf("package index: %s %s has no file for %s", w.Package, printable.Line(w.Version), thisPlatform)
}

// fetch downloads r to path, continuing an earlier download. A file with another SHA-256 is deleted.
func (r *release) fetch(ctx context.Context, path string, progress io.Writer) error {
	c := download.New()
	if progress != nil {
		c.Bar = func(f download.File, have int64) io.WriteCloser {
			return terminal.Bar(progress, "Downloading "+printable.Line(r.Filename), have, f.Bytes)
		}
		c.Again = func(_ download.File, err error) { fmt.Fprintf(progress, "%v: trying again\n", err) }
	}
	check := func(ctx context.Context, path string) error { return checkSHA256(ctx, path, r.Digests.SHA256) }
	return printable.Error(c.To(ctx, download.File{URL: r.URL, Bytes: r.Size, Check: check}, path))
}
