package backend

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gomlx/go-xla/installer"
)

// cudaPluginEnv names the environment variable that points at a CUDA plugin.
const cudaPluginEnv = "PARALLELCL_CUDA_PLUGIN"

// cudaPlugin is JAX's plugin. Its libraries, gigabytes, are whatever versions JAX asks for: the
// index lists them.
var cudaPlugin = plugin{
	Package: "jax-cuda13-pjrt", Version: "0.12.0.1", Platform: linuxAMD64,
	SHA256:    "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
	File:      "jax_plugins/xla_cuda*/xla_cuda_plugin.so",
	Libraries: "jax-cuda13-plugin",
}

// cudaPlatform is where cudaPlugin runs.
const cudaPlatform = "linux/amd64"

var errNoCUDAHere = errors.New("this library uses CUDA on " + cudaPlatform + " only, this is " + thisPlatform)

// machine is what has to be known about the computer to choose CUDA; tests replace it.
type machine struct {
	hasGPU      func() bool
	pythonPaths func(ctx context.Context) []string // folders like site-packages, the best first
}

var thisMachine = machine{hasNVIDIA, pythonPaths}

// hasNVIDIA reports whether there is an NVIDIA GPU with a driver: device files, nvidia-smi, or the
// driver library of the Windows subsystem for Linux, which has neither.
func hasNVIDIA() bool {
	_, err := os.Stat("/usr/lib/wsl/lib/libcuda.so.1")
	return err == nil || installer.HasNvidiaGPU()
}

// cudaFile returns the CUDA plugin: in this order, the one that the environment names, ours, the
// one of an installed JAX, or a new installation. A file that the environment names is returned
// without a check: if it does not exist, the error of opening it is the one that the user should
// read.
func (m machine) cudaFile(ctx context.Context, o Options) (string, error) {
	if thisPlatform != cudaPlatform {
		return "", errNoCUDAHere
	}
	if !m.hasGPU() {
		return "", errors.New("no NVIDIA GPU found")
	}
	if given := os.Getenv(cudaPluginEnv); given != "" {
		return given, nil
	}
	dirs := m.pythonPaths(ctx)
	if o.cache != "" {
		dirs = append([]string{cudaPlugin.folder(o.cache)}, dirs...)
	}
	for _, dir := range dirs {
		if file, err := cudaPlugin.in(ctx, dir, o.Verify); err == nil {
			return file, nil
		}
	}
	return cudaPlugin.installed(ctx, o)
}

// pythonPaths returns the absolute folders of python3's module search path; none without a python3.
func pythonPaths(ctx context.Context) (dirs []string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "python3", "-c", `import sys; print("\n".join(sys.path))`).Output()
	for dir := range strings.Lines(string(out)) {
		if dir = strings.TrimSpace(dir); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// cudaDataDir is the folder of CUDA's own libraries (libdevice, ptxas) that belongs to a plugin; ""
// if it is not beside the plugin, so that XLA has to find a CUDA installed on the system.
func cudaDataDir(plugin string) string {
	for _, nvidia := range []string{
		filepath.Join(filepath.Dir(plugin), "..", "..", "nvidia"), // site-packages
		filepath.Join(filepath.Dir(plugin), "..", "nvidia"),       // the binding's own installer
	} {
		found, _ := fs.Glob(os.DirFS(nvidia), "cu[0-9]*")
		for _, sub := range append(found, "cuda_nvcc") {
			if info, err := os.Stat(filepath.Join(nvidia, sub)); err == nil && info.IsDir() {
				return filepath.Join(nvidia, sub)
			}
		}
	}
	return ""
}
