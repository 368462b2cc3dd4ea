package backend

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gomlx/go-xla/installer"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// JAX's CUDA plugin. Its libraries are whatever versions JAX asks for: the index lists them.
var cudaWheel = wheel{"jax-cuda13-pjrt", "0.12.0.1", linuxAMD64, "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90"}

// cudaPlatform is where cudaWheel runs, and cudaLibraries the package whose requirements are its NVIDIA libraries.
const (
	cudaPlatform  = "linux/amd64"
	cudaLibraries = "jax-cuda13-plugin"
)

// cudaDir is the installation of the CUDA plugin: a folder laid out like Python's site-packages,
// because the plugin looks for its libraries relative to itself.
func cudaDir(cacheDir string) string {
	return filepath.Join(pluginDir(cacheDir), cudaWheel.Package+"-"+cudaWheel.Version)
}

// installCUDA installs the CUDA plugin and the NVIDIA libraries it needs (gigabytes) and returns the plugin's file.
func installCUDA(ctx context.Context, o Options) (string, error) {
	dir := cudaDir(o.CacheDir)
	unlock, err := lockPlugins(ctx, o)
	if err != nil {
		return "", err
	}
	defer unlock()
	if p := cudaPluginIn(dir); p != "" { // another process was faster
		return p, nil
	}
	wheels, err := cudaWheels(ctx)
	if err != nil {
		return "", err
	}
	check := func(dir string) error {
		if cudaPluginIn(dir) == "" {
			return fmt.Errorf("%s %s has no jax_plugins/xla_cuda*/xla_cuda_plugin.so", cudaWheel.Package, cudaWheel.Version)
		}
		return nil
	}
	err = unpackWheels(ctx, dir, wheels, nil, check, o.Progress)
	return cudaPluginIn(dir), err
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
	needed, err := index.ParseDependencies()
	if err != nil {
		return nil, fmt.Errorf("package index: %s: %w", cudaLibraries, printable.Error(err))
	}
	wheels := []*release{plugin}
	for _, d := range needed {
		if !strings.HasPrefix(d.Package, "nvidia-") {
			continue
		}
		r, err := newest(ctx, d)
		if err != nil {
			return nil, err
		}
		wheels = append(wheels, r)
	}
	return wheels, nil
}

// newest is the newest release that satisfies a requirement and has a wheel for the plugin's platform.
func newest(ctx context.Context, d installer.PipDependency) (*release, error) {
	index, err := ask(ctx, d.Package)
	if err != nil {
		return nil, err
	}
	var best *release
	version := ""
	for v := range index.Releases {
		r, err := wheel{Package: d.Package, Version: v, Platform: cudaWheel.Platform}.in(index)
		if err == nil && d.IsValid(v) && (best == nil || installer.PipCompareVersion(v, version) > 0) {
			best, version = r, v
		}
	}
	if best == nil {
		return nil, fmt.Errorf("package index: no version of %s fits", d.Package)
	}
	return best, nil
}
