package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Limits on the time and the size of the package index's answers. The longest answers about packages have
// some megabytes.
const (
	indexTimeout = 20 * time.Second
	maxIndex     = 16 << 20
	maxWheel     = 2 << 30 // bytes; the largest of NVIDIA's libraries has 0.7 GB
)

// packageIndex is what the package index says about a package.
type packageIndex struct {
	Info struct {
		RequiresDist []string `json:"requires_dist"`
	} `json:"info"`
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
	address := indexURL(name)
	data, err := download.New().Bytes(ctx, address, maxIndex)
	if err != nil {
		return nil, fmt.Errorf("package index: %w", err)
	}
	var answer packageIndex
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("package index: the answer of %s is not what it should be (is there a proxy or a login page in between?): %w", address, printable.Error(err))
	}
	return &answer, nil
}

func indexURL(pkg string) string { return "https://pypi.org/pypi/" + url.PathEscape(pkg) + "/json" }

// wheel is the file of a version for a platform, or nil.
func (p *packageIndex) wheel(version, platform string) *release {
	for _, r := range p.Releases[version] {
		if name := wheelNames[platform]; name != nil && name.MatchString(r.Filename) {
			return &r
		}
	}
	return nil
}

// requirements are the packages that a package asks for.
func (p *packageIndex) requirements() ([]installer.PipDependency, error) {
	const most = 200
	if n := len(p.Info.RequiresDist); n > most {
		return nil, fmt.Errorf("%d requirements: refused", n)
	}
	var info installer.PipPackageInfo
	info.Info.RequiresDist = p.Info.RequiresDist
	deps, err := info.ParseDependencies()
	if err != nil {
		return nil, fmt.Errorf("requirements: %w", printable.Error(err))
	}
	return deps, nil
}
