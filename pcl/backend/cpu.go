package backend

import (
	"context"
	"errors"
)

// errNotInstalled is returned if the plugin is not installed and may not be downloaded.
var errNotInstalled = errors.New("its plugin is not installed, and installing is switched off")

// errNoBuild is the state of a platform on which XLA runs, but for which OpenXLA publishes no plugin.
var errNoBuild = errors.New("OpenXLA publishes no CPU plugin for " + thisPlatform + ": name the file of another build of it")

// cpuReady reports whether the XLA CPU plugin is there or can be installed.
func cpuReady(_ context.Context, o Options) (string, error) {
	switch {
	case xlaUnsupported != "":
		return "", errors.New(xlaUnsupported)
	case o.Plugin != "":
		return "", nil
	case cpuPlugin.Package == "":
		return "", errNoBuild
	case o.CacheDir == "":
		return "", errNoCacheDir
	case isFile(cpuPlugin.path(o.CacheDir)):
		return "", nil
	case o.NoInstall:
		return "", errNotInstalled
	}
	return "installed on first use", nil
}

// openCPU opens XLA on the CPU with o.Plugin or the installed plugin.
func openCPU(ctx context.Context, o Options) (*Backend, error) {
	if _, err := cpuReady(ctx, o); err != nil {
		return nil, err
	}
	file := o.Plugin
	if file == "" {
		var err error
		if file, err = cpuPlugin.installed(ctx, o); err != nil {
			return nil, err
		}
	}
	return openCPUPlugin(file, o)
}
