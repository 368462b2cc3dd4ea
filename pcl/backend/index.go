package backend

import (
	"context"
	"encoding/json"
	"fmt"
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
func ask(ctx context.Context, name string) (*packageIndex, error) {
	address := &url.URL{Scheme: "https", Host: "pypi.org", Path: "/pypi/" + name + "/json"}
	data, err := download.New(nil).Bytes(ctx, address.String(), maxIndex)
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

// file is that of a version for a platform. One without a checksum is refused.
func (x *packageIndex) file(version string, platform *regexp.Regexp) (release, error) {
	for _, r := range x.Releases[version] {
		if platform.MatchString(r.Filename) && r.Digests.SHA256 != "" {
			return r, nil
		}
	}
	return release{}, fmt.Errorf("package index: %s has no file with a SHA-256 for %s in version %s", printable.Line(x.Info.Name), thisPlatform, printable.Line(version))
}

// wheels looks up the plugin and its libraries in the package index.
func (p plugin) wheels(ctx context.Context) ([]release, error) {
	index, err := ask(ctx, p.Package)
	if err != nil {
		return nil, err
	}
	own, err := index.file(p.Version, p.Platform)
	if err == nil && own.Digests.SHA256 != p.SHA256 {
		err = fmt.Errorf("package index: %s %s has SHA-256 %q; want %q: refused", p.Package, p.Version, own.Digests.SHA256, p.SHA256)
	}
	if err != nil || p.Libraries == "" {
		return []release{own}, err
	}
	if index, err = ask(ctx, p.Libraries); err != nil {
		return nil, err
	}
	needed, err := index.ParseDependencies()
	if err != nil {
		return nil, fmt.Errorf("package index: %s: %w", p.Libraries, printable.Error(err))
	}
	all := []release{own}
	for _, d := range needed {
		if !strings.HasPrefix(d.Package, "nvidia-") {
			continue
		}
		r, err := newest(ctx, d, p.Platform)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// newest is the newest release that satisfies a requirement and has a wheel for the platform.
func newest(ctx context.Context, d installer.PipDependency, platform *regexp.Regexp) (best release, err error) {
	index, err := ask(ctx, d.Package)
	if err != nil {
		return best, err
	}
	version := ""
	for v := range index.Releases {
		if r, err := index.file(v, platform); err == nil && d.IsValid(v) && (version == "" || installer.PipCompareVersion(v, version) > 0) {
			best, version = r, v
		}
	}
	if version == "" {
		return best, fmt.Errorf("package index: no version of %s fits", d.Package)
	}
	return best, nil
}
