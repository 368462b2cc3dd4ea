package backend

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/go-xla/installer"
)

// cudaPluginEnv names the environment variable that points at a CUDA plugin.
const cudaPluginEnv = "PARALLELCL_CUDA_PLUGIN"

var (
	errNoCUDAHere   = errors.New("this library uses CUDA on " + cudaPlatform + " only, this is " + thisPlatform)
	errNoGPU        = errors.New("no NVIDIA GPU found")
	errNoCUDAPlugin = errors.New("there is an NVIDIA GPU, but no plugin, and installing is switched off: install jax[cuda13] for Python or set " + cudaPluginEnv)
)

// machine is what has to be known about the computer to choose and open CUDA; tests replace it.
type machine struct {
	hasGPU      func() bool
	pythonPaths func(ctx context.Context) []string // folders like site-packages, the best first
	open        func(plugin string, o Options) (*Backend, error)
	install     func(ctx context.Context, o Options) (string, error)
}

var thisMachine = machine{hasNVIDIA, sitePackages, openCUDAPlugin, installCUDA}

// hasNVIDIA reports whether there is an NVIDIA GPU with a driver: device files, nvidia-smi, or the
// driver library of the Windows subsystem for Linux, which has neither.
func hasNVIDIA() bool {
	return installer.HasNvidiaGPU() || isFile("/usr/lib/wsl/lib/libcuda.so.1")
}

func (m machine) cudaReady(ctx context.Context, o Options) (string, error) {
	switch {
	case xlaUnsupported != "":
		return "", errors.New(xlaUnsupported)
	case thisPlatform != cudaPlatform:
		return "", errNoCUDAHere
	case o.Plugin != "":
		return "", nil
	case !m.hasGPU():
		return "", errNoGPU
	case m.findCUDA(ctx, o.CacheDir) != "":
		return "", nil
	case o.NoInstall:
		return "", errNoCUDAPlugin
	case o.CacheDir == "":
		return "", errNoCacheDir
	}
	return "installed on first use", nil
}

// openCUDA opens XLA on the GPU with, in this order, o.Plugin, the plugin that the environment
// names, one that is installed, or a new installation.
func (m machine) openCUDA(ctx context.Context, o Options) (*Backend, error) {
	_, err := m.cudaReady(ctx, o)
	if err != nil {
		return nil, err
	}
	plugin := o.Plugin
	if plugin == "" {
		plugin = m.findCUDA(ctx, o.CacheDir)
	}
	if plugin == "" {
		plugin, err = m.install(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	return m.open(plugin, o)
}

// findCUDA returns an installed CUDA plugin, or "". A file that the environment names is returned without a
// check: if it does not exist, the error of opening it is the one that the user should read.
func (m machine) findCUDA(ctx context.Context, cacheDir string) string {
	if p := os.Getenv(cudaPluginEnv); p != "" {
		return p
	}
	roots := m.pythonPaths(ctx)
	if cacheDir != "" {
		roots = append([]string{cudaDir(cacheDir)}, roots...)
	}
	for _, root := range roots {
		if p := cudaPluginIn(root); p != "" {
			return p
		}
	}
	home, _ := os.UserHomeDir()
	for _, lib := range []string{filepath.Join(home, ".local", "lib"), "/usr/local/lib"} {
		if p := filepath.Join(lib, "go-xla", "nvidia", "pjrt_c_api_cuda_plugin.so"); isFile(p) {
			return p
		}
	}
	return ""
}

// cudaPluginIn is the CUDA plugin that JAX installed into a site-packages folder, or "".
func cudaPluginIn(site string) string {
	found := glob(site, "jax_plugins/xla_cuda*/xla_cuda_plugin.so")
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found) // the newest CUDA
}

// sitePackages lists the folders where Python may keep its packages: the active environment's, those that
// python3 reports, and the usual places.
func sitePackages(ctx context.Context) []string {
	var dirs []string
	for _, env := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(env); root != "" {
			dirs = append(dirs, glob(root, "lib/python3*/site-packages")...)
		}
	}
	dirs = append(dirs, askPython(ctx)...)
	home, _ := os.UserHomeDir()
	for _, root := range []string{filepath.Join(home, ".local"), "/usr/local", "/usr", "/opt/conda"} {
		dirs = append(dirs, glob(root, "lib/python3*/site-packages")...)
		dirs = append(dirs, glob(root, "lib/python3*/dist-packages")...)
	}
	return dirs
}

// askPython returns the absolute folders of python3's module search path; none without a python3.
func askPython(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "-c", `import sys; print("\n".join(sys.path))`).Output()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(p string) bool { return !filepath.IsAbs(p) })
}

// cudaDataDir is the folder of CUDA's own libraries (libdevice, ptxas) that belongs to a plugin; "" if it is
// not beside the plugin, so that XLA has to find a CUDA installed on the system.
func cudaDataDir(plugin string) string {
	for _, nvidia := range []string{
		filepath.Join(filepath.Dir(plugin), "..", "..", "nvidia"), // site-packages
		filepath.Join(filepath.Dir(plugin), "..", "nvidia"),       // the binding's own installer
	} {
		for _, sub := range append(glob(nvidia, "cu[0-9]*"), filepath.Join(nvidia, "cuda_nvcc")) {
			if info, err := os.Stat(sub); err == nil && info.IsDir() {
				return filepath.Clean(sub)
			}
		}
	}
	return ""
}

// glob lists what matches a pattern within a folder, in whose own name brackets and stars mean nothing.
func glob(root, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(root), pattern)
	for i, name := range found {
		found[i] = filepath.Join(root, name)
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
