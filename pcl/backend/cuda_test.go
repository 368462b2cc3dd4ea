package backend

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// touch makes an empty file and its folders.
func touch(t *testing.T, parts ...string) string {
	t.Helper()
	p := filepath.Join(parts...)
	must.Do(t, os.MkdirAll(filepath.Dir(p), 0o755))
	must.Do(t, os.WriteFile(p, nil, 0o644))
	return p
}

// gpuMachine has a GPU and these site-packages.
func gpuMachine(t *testing.T, sites ...string) machine {
	t.Helper()
	if thisPlatform != cudaPlatform {
		t.Skip(errNoCUDAHere)
	}
	t.Setenv(cudaPluginEnv, "")
	return machine{hasGPU: func() bool { return true }, pythonPaths: func(context.Context) []string { return sites }}
}

// tried returns the error with which cudaFile ends.
func (m machine) tried(o Options) (file string, err error) {
	return m.cudaFile(context.Background(), o)
}

func TestCUDAPluginIsFound(t *testing.T) {
	x := cudaIndex(t)
	site, cache := t.TempDir(), t.TempDir()
	m := gpuMachine(t, t.TempDir(), site)
	check := func(where, want string) {
		t.Helper()
		if got, err := m.tried(Options{cache: cache}); err != nil || got != want {
			t.Errorf("%s: %q (error %v), want %q", where, got, expect.Text(err), want)
		}
	}
	check("JAX, CUDA 12", touch(t, site, "jax_plugins/xla_cuda12/xla_cuda_plugin.so"))
	check("JAX, CUDA 13", touch(t, site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"))
	check("cache folder", touch(t, cudaPlugin.folder(cache), "jax_plugins/xla_cuda13/xla_cuda_plugin.so"))
	t.Setenv(cudaPluginEnv, "/mine/xla_cuda_plugin.so")
	check("environment", "/mine/xla_cuda_plugin.so")
	if n := x.downloads.Load(); n > 0 {
		t.Errorf("%d downloads", n)
	}
	t.Setenv(cudaPluginEnv, "")
	m.pythonPaths, cache = func(context.Context) []string { return nil }, t.TempDir()
	check("nothing there", filepath.Join(cudaPlugin.folder(cache), "jax_plugins/xla_cuda13/xla_cuda_plugin.so"))
}

func TestCUDAWithoutGPUOrPlugin(t *testing.T) {
	m := gpuMachine(t)
	_, err := m.tried(Options{})
	expect.Refusal(t, "no cache folder", err, "HOME")
	m.hasGPU = func() bool { return false }
	m.pythonPaths = func(context.Context) []string { t.Error("asked Python though there is no GPU"); return nil }
	_, err = m.tried(Options{cache: t.TempDir()})
	expect.Refusal(t, "no GPU", err, "no NVIDIA GPU")
}

func TestCUDADataDir(t *testing.T) {
	for plugin, data := range map[string]string{
		"site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so":        "site-packages/nvidia/cu13",
		"old/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so":    "old/site-packages/nvidia/cuda_nvcc",
		"lib/go-xla/nvidia/pjrt_c_api_cuda_plugin.so":                    "lib/go-xla/nvidia/cu13",
		"system/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so": "",
	} {
		t.Run(plugin, func(t *testing.T) {
			root := t.TempDir()
			p := touch(t, root, plugin)
			want := ""
			if data != "" {
				want = filepath.Join(root, data)
				touch(t, want, "bin", "ptxas")
			}
			if got := cudaDataDir(p); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// cudaIndex is an index with the CUDA plugin and two libraries.
func cudaIndex(t *testing.T) *fakeIndex {
	t.Helper()
	x := newFakeIndex(t)
	before := cudaPlugin
	t.Cleanup(func() { cudaPlugin = before })
	cudaPlugin.Version = fakeVersion
	x.add(t, cudaPlugin.Package, "jax_plugins/xla_cuda13/xla_cuda_plugin.so", fakeContent)
	cudaPlugin.SHA256 = hexSHA256(x.wheels[cudaPlugin.Package])
	x.add(t, cudaPlugin.Libraries, "unused", nil)
	x.add(t, "nvidia-a", "nvidia/cu13/lib/liba.so", []byte("a"))
	x.add(t, "nvidia-b", "nvidia/cu13/lib/libb.so", []byte("b"))
	x.requires[cudaPlugin.Libraries] = []string{`nvidia-a<2.0,>=1.0; extra == "with-cuda"`, "nvidia-b", "jax==1"}
	return x
}

func TestInstallCUDA(t *testing.T) {
	x := cudaIndex(t)
	o := Options{cache: t.TempDir()}
	for range 2 {
		file := must.Get(cudaPlugin.tried(t.Context(), o))(t)
		if want := filepath.Join(cudaPlugin.folder(o.cache), "jax_plugins/xla_cuda13/xla_cuda_plugin.so"); file != want {
			t.Errorf("installed %s, want %s", file, want)
		}
		if got, want := cudaDataDir(file), filepath.Join(cudaPlugin.folder(o.cache), "nvidia/cu13"); got != want {
			t.Errorf("data folder %q, want %q", got, want)
		}
	}
	if n := x.downloads.Load(); n != 3 {
		t.Errorf("%d downloads, want 3: plugin and two libraries, once", n)
	}
}

// TestInstallCUDARefuses: all is installed or nothing; a wheel of the index must not write
// elsewhere, nor be a bomb.
func TestInstallCUDARefuses(t *testing.T) {
	before := wheelLimits
	wheelLimits.Bytes = 1 << 20
	t.Cleanup(func() { wheelLimits = before })
	for name, change := range map[string]func(x *fakeIndex){
		"no version fits": func(x *fakeIndex) {
			x.requires[cudaPlugin.Libraries] = append(x.requires[cudaPlugin.Libraries], "nvidia-a>=7")
		},
		"no archive": func(x *fakeIndex) { x.wheels["nvidia-b"] = []byte("no archive") },
		"leads out": func(x *fakeIndex) {
			x.add(t, "nvidia-b", "../"+cudaPlugin.Package+"-"+fakeVersion+".partial-evil", []byte("b"))
		},
		"leads out, unprintably": func(x *fakeIndex) { x.add(t, "nvidia-b", "../\x1b[2J", []byte("b")) },
		"a bomb":                 func(x *fakeIndex) { x.add(t, "nvidia-b", "nvidia/bomb", make([]byte, 2<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			x := cudaIndex(t)
			change(x)
			o := Options{cache: t.TempDir()}
			if _, err := cudaPlugin.tried(t.Context(), o); err == nil || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("error %q", expect.Text(err))
			}
			if left, _ := os.ReadDir(filepath.Join(o.cache, "plugins")); len(left) != 1 || left[0].Name() != ".lock" {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
