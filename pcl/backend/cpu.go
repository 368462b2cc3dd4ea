package backend

import (
	"context"
	"errors"
	"fmt"
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
		return "", checkPluginFile(o.Plugin)
	case cpuPlugin.Package == "":
		return "", errNoBuild
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
	file, err := installedCPU(ctx, o)
	if err != nil {
		return nil, err
	}
	return openCPUPlugin(file, o)
}

// installedCPU returns the file of this program's plugin, after checking that it is undamaged.
func installedCPU(ctx context.Context, o Options) (string, error) {
	if o.NoInstall {
		err := cpuPlugin.intact(ctx, o.CacheDir)
		if errors.Is(err, errDamaged) {
			err = fmt.Errorf("%w, and installing is switched off", err)
		}
		return cpuPlugin.path(o.CacheDir), err
	}
	return cpuPlugin.install(ctx, o.CacheDir, o.Progress)
}
