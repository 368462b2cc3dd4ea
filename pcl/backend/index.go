package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// maxIndex limits the package index's answers. The longest about packages have some megabytes.
const maxIndex = 16 << 20

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
func ask(ctx context.Context, name string) (_ *packageIndex, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("package index: %w", err)
		}
	}()
	address := &url.URL{Scheme: "https", Host: "pypi.org", Path: "/pypi/" + name + "/json"}
	data, err := new(download.Client).Bytes(ctx, address.String(), maxIndex)
	if err != nil {
		return nil, err
	}
	var answer packageIndex
	if err := printable.Error(json.Unmarshal(data, &answer)); err != nil {
		return nil, fmt.Errorf(
			"the answer of %s is not what it should be (is there a proxy or a login page in between?): %w",
			address, err)
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

// file returns the file of a version for a platform, if there is one and it has a checksum.
func (x *packageIndex) file(version string, platform *regexp.Regexp) (release, bool) {
	for _, r := range x.Releases[version] {
		if platform.MatchString(r.Filename) && r.Digests.SHA256 != "" {
			return r, true
		}
	}
	return release{}, false
}

// wheels looks up the plugin and its libraries in the package index.
func (p plugin) wheels(ctx context.Context) ([]release, error) {
	found, err := ask(ctx, p.Package)
	if err != nil {
		return nil, err
	}
	own, has := found.file(p.Version, p.Platform)
	if !has {
		return nil, fmt.Errorf("package index: %s %s has no file with a SHA-256 for %s",
			p.Package, p.Version, thisPlatform)
	}
	if own.Digests.SHA256 != p.SHA256 {
		return nil, fmt.Errorf("package index: %s %s has SHA-256 %q; want %q: refused",
			p.Package, p.Version, own.Digests.SHA256, p.SHA256)
	}
	all := []release{own}
	if p.Libraries == "" {
		return all, nil
	}
	libraries, err := ask(ctx, p.Libraries)
	if err != nil {
		return nil, err
	}
	needed, err := libraries.ParseDependencies()
	if err != nil {
		return nil, fmt.Errorf("package index: %s: %w", p.Libraries, printable.Error(err))
	}
	for _, d := range needed {
		if strings.HasPrefix(d.Package, "nvidia-") {
			r, err := newest(ctx, d, p.Platform)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// newest is the newest release that satisfies a requirement and has a wheel for the platform.
func newest(ctx context.Context, d installer.PipDependency, platform *regexp.Regexp) (best release, err error) {
	index, err := ask(ctx, d.Package)
	if err != nil {
		return release{}, err
	}
	version := ""
	for v := range index.Releases {
		if r, ok := index.file(v, platform); ok && d.IsValid(v) &&
			(version == "" || installer.PipCompareVersion(v, version) > 0) {
			best, version = r, v
		}
	}
	if version == "" {
		return release{}, fmt.Errorf("package index: no version of %s fits", d.Package)
	}
	return best, nil
}

// Wheel is a file of Python's package index that is known by its SHA-256.
type Wheel struct {
	Package, Version string
	SHA256           string
}

var anyWheel = regexp.MustCompile(`\.whl$`)

// Fetch downloads the wheel to a file, where it goes on with what an earlier call left.
func (w Wheel) Fetch(ctx context.Context, path string, progress io.Writer) error {
	found, err := plugin{Package: w.Package, Version: w.Version, Platform: anyWheel, SHA256: w.SHA256}.wheels(ctx)
	if err != nil {
		return err
	}
	file := download.File{URL: found[0].URL, Bytes: found[0].Size, SHA256: w.SHA256}
	return (&download.Client{Progress: progress}).To(ctx, file, path)
}
