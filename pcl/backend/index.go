package backend

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/fail"
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
func ask(ctx context.Context, name string) *packageIndex {
	defer fail.At("package index")
	address := &url.URL{Scheme: "https", Host: "pypi.org", Path: "/pypi/" + name + "/json"}
	data := fail.Or(new(download.Client).Bytes(ctx, address.String(), maxIndex))
	var answer packageIndex
	err := printable.Error(json.Unmarshal(data, &answer))
	fail.When(err != nil, "the answer of %s is not what it should be (is there a proxy or a login page in between?): %w", address, err)
	for _, files := range answer.Releases {
		for i := range files {
			if u, err := address.Parse(files[i].URL); err == nil { // mirrors answer with relative addresses
				files[i].URL = u.String()
			}
		}
	}
	return &answer
}

// file is that of a version for a platform, if there is one and it has a checksum.
func (x *packageIndex) file(version string, platform *regexp.Regexp) (release, bool) {
	for _, r := range x.Releases[version] {
		if platform.MatchString(r.Filename) && r.Digests.SHA256 != "" {
			return r, true
		}
	}
	return release{}, false
}

// wheels looks up the plugin and its libraries in the package index.
func (p plugin) wheels(ctx context.Context) []release {
	own, found := ask(ctx, p.Package).file(p.Version, p.Platform)
	fail.When(!found, "package index: %s %s has no file with a SHA-256 for %s", p.Package, p.Version, thisPlatform)
	fail.When(own.Digests.SHA256 != p.SHA256, "package index: %s %s has SHA-256 %q; want %q: refused", p.Package, p.Version, own.Digests.SHA256, p.SHA256)
	all := []release{own}
	if p.Libraries == "" {
		return all
	}
	needed, err := ask(ctx, p.Libraries).ParseDependencies()
	fail.When(err != nil, "package index: %s: %w", p.Libraries, printable.Error(err))
	for _, d := range needed {
		if strings.HasPrefix(d.Package, "nvidia-") {
			all = append(all, newest(ctx, d, p.Platform))
		}
	}
	return all
}

// newest is the newest release that satisfies a requirement and has a wheel for the platform.
func newest(ctx context.Context, d installer.PipDependency, platform *regexp.Regexp) (best release) {
	index, version := ask(ctx, d.Package), ""
	for v := range index.Releases {
		if r, ok := index.file(v, platform); ok && d.IsValid(v) && (version == "" || installer.PipCompareVersion(v, version) > 0) {
			best, version = r, v
		}
	}
	fail.When(version == "", "package index: no version of %s fits", d.Package)
	return best
}
