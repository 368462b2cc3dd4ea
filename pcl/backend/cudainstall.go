package backend

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/disk"
	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// JAX's CUDA plugin. Its libraries are whatever versions JAX asks for: the index lists them.
var cudaWheel = wheel{
	Package:  "jax-cuda13-pjrt",
	Version:  "0.12.0.1",
	Platform: "linux/amd64",
	SHA256:   "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
	Size:     134922808,
}

// The CUDA plugin and its libraries are 2.5 GB when packed. A much larger download must be something else.
const (
	maxCUDA      = 8 << 30
	maxLibraries = 40
)

var cudaLimits = archive.Limits{Bytes: 4 << 30, Members: 100_000} // of one wheel

// cudaLibraries is the package whose requirements are the NVIDIA libraries of cudaWheel.
const cudaLibraries = "jax-cuda13-plugin"

// cudaDir is the installation of the CUDA plugin: a folder laid out like Python's site-packages,
// because the plugin looks for its libraries relative to itself.
func cudaDir(cacheDir string) string {
	return filepath.Join(pluginDir(cacheDir), cudaWheel.Package+"-"+cudaWheel.Version)
}

// installCUDA installs the CUDA plugin and the NVIDIA libraries it needs (gigabytes) and returns the plugin's
// file. It installs everything or nothing: the folder gets its name only when it is complete.
func installCUDA(ctx context.Context, o Options) (string, error) {
	dir := cudaDir(o.CacheDir)
	unlock, err := lockDir(ctx, filepath.Dir(dir), o.Progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if p := cudaPluginIn(dir); p != "" {
		return p, nil
	}
	partial := filepath.Join(filepath.Dir(dir), ".partial-"+filepath.Base(dir))
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	defer os.RemoveAll(partial)
	wheels, err := cudaWheels(ctx)
	if err != nil {
		return "", err
	}
	if err := disk.Room(filepath.Dir(dir), 2*totalSize(wheels)); err != nil { // unpacked they have twice the size
		return "", err
	}
	for _, w := range wheels {
		if err := unzipWheel(ctx, w, partial, o.Progress); err != nil {
			return "", err
		}
	}
	if cudaPluginIn(partial) == "" {
		return "", fmt.Errorf("%s %s has no jax_plugins/xla_cuda*/xla_cuda_plugin.so", cudaWheel.Package, cudaWheel.Version)
	}
	if err := os.RemoveAll(dir); err != nil { // without its plugin it is of no use
		return "", err
	}
	if err := os.Rename(partial, dir); err != nil {
		return "", err
	}
	return cudaPluginIn(dir), nil
}

// cudaWheels resolves the plugin and its NVIDIA libraries in the package index.
func cudaWheels(ctx context.Context) ([]*release, error) {
	plugin, err := cudaWheel.release(ctx)
	if err != nil {
		return nil, err
	}
	index, err := ask(ctx, cudaLibraries)
	if err != nil {
		return nil, err
	}
	deps, err := index.requirements()
	if err != nil {
		return nil, fmt.Errorf("package index: %s: %w", cudaLibraries, err)
	}
	wheels := []*release{plugin}
	for _, d := range deps {
		if !strings.HasPrefix(d.Package, "nvidia-") {
			continue
		}
		r, err := newest(ctx, d)
		if err != nil {
			return nil, err
		}
		wheels = append(wheels, r)
		if n := totalSize(wheels); n > maxCUDA || len(wheels) > maxLibraries {
			return nil, fmt.Errorf("package index: the CUDA plugin needs %d packages of %.1f GB or more: refused", len(wheels), float64(n)/1e9)
		}
	}
	return wheels, nil
}

func totalSize(wheels []*release) (n int64) {
	for _, w := range wheels {
		n += w.Size
	}
	return n
}

// newest is the newest release that satisfies a requirement and has a wheel for the plugin's platform.
func newest(ctx context.Context, d installer.PipDependency) (*release, error) {
	index, err := ask(ctx, d.Package)
	if err != nil {
		return nil, err
	}
	var best string
	for version := range index.Releases {
		if index.wheel(version, cudaWheel.Platform) != nil && d.IsValid(version) && (best == "" || installer.PipCompareVersion(version, best) > 0) {
			best = version
		}
	}
	if best == "" {
		return nil, fmt.Errorf("package index: no version of %s fits", d.Package)
	}
	return wheel{Package: d.Package, Version: best, Platform: cudaWheel.Platform}.in(index)
}

// unzipWheel downloads a wheel and unpacks all of it into dir.
func unzipWheel(ctx context.Context, r *release, dir string, progress io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(dir, ".wheel")
	if err := r.fetch(ctx, file, progress); err != nil {
		return err
	}
	defer download.Forget(file)
	if err := archive.Unpack(ctx, file, archive.Zip, nil, dir, cudaLimits); err != nil {
		return fmt.Errorf("unpack %s: %w", printable.Line(r.Filename), err)
	}
	return nil
}
