package backend

import (
	"context"
	"errors"
)

// errNotInstalled is the state of a machine on which the plugin may not be fetched.
var errNotInstalled = errors.New("its plugin is not installed, and installing is switched off")

// cpuReady reports whether the XLA CPU plugin is there or can be installed.
func cpuReady(_ context.Context, o Options) (string, error) {
	switch {
	case xlaUnsupported != "":
		return "", errors.New(xlaUnsupported)
	case o.Plugin != "":
		return "", checkPluginFile(o.Plugin)
	case o.CacheDir == "":
		return "", errNoCacheDir
	case cpuPlugin.installed(o.CacheDir):
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
	if o.Plugin != "" {
		return openCPUPlugin(o.Plugin, o)
	}
	file, err := cpuPlugin.install(ctx, o.CacheDir, o.Progress)
	if err != nil {
		return nil, err
	}
	return openCPUPlugin(file, o)
}
