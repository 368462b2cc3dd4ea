package backend

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// gpuMachine has a GPU and these site-packages, and no home that could hold a plugin.
func gpuMachine(t *testing.T, sites ...string) machine {
	t.Helper()
	if xlaUnsupported != "" {
		t.Skip(xlaUnsupported)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv(cudaPluginEnv, "")
	return machine{hasGPU: func() bool { return true }, pythonPaths: func(context.Context) []string { return sites }}
}

// opened runs openCUDA with fakes: which plugin it opens, and whether it installed one.
func (m machine) opened(o Options) (file string, installed bool, err error) {
	m.open = func(p string, _ Options) (*Backend, error) { file = p; return &Backend{}, nil }
	m.install = func(context.Context, Options) (string, error) { installed = true; return "new.so", nil }
	_, err = m.openCUDA(context.Background(), o)
	return file, installed, err
}

func TestCUDAPluginIsFound(t *testing.T) {
	site, cache := t.TempDir(), t.TempDir()
	m := gpuMachine(t, t.TempDir(), site)
	o := Options{CacheDir: cache}
	check := func(where, want string, wantInstalled bool) {
		t.Helper()
		got, installed, err := m.opened(o)
		if err != nil || got != want || installed != wantInstalled {
			t.Errorf("%s: opened %q (installed: %v, error %v), want %q", where, got, installed, err, want)
		}
	}
	check("nothing there", "new.so", true)
	check("binding's installer", touch(t, os.Getenv("HOME"), ".local/lib/go-xla/nvidia/pjrt_c_api_cuda_plugin.so"), false)
	check("JAX, CUDA 12", touch(t, site, "jax_plugins/xla_cuda12/xla_cuda_plugin.so"), false)
	check("JAX, CUDA 13", touch(t, site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"), false)
	check("cache folder", touch(t, cudaDir(cache), "jax_plugins/xla_cuda13/xla_cuda_plugin.so"), false)
	t.Setenv(cudaPluginEnv, "/mine/xla_cuda_plugin.so")
	check("environment", "/mine/xla_cuda_plugin.so", false)
	o.NoInstall = true
	check("environment, no installation", "/mine/xla_cuda_plugin.so", false)
}

func TestCUDAWithoutGPUOrPlugin(t *testing.T) {
	m := gpuMachine(t)
	if _, _, err := m.opened(Options{CacheDir: t.TempDir(), NoInstall: true}); !errors.Is(err, errNoCUDAPlugin) {
		t.Errorf("no plugin, no installation: error is %v", err)
	}
	if _, _, err := m.opened(Options{}); !errors.Is(err, errNoCacheDir) {
		t.Errorf("no cache folder: error is %v", err)
	}
	m.hasGPU = func() bool { return false }
	m.pythonPaths = func(context.Context) []string { t.Error("asked Python though there is no GPU"); return nil }
	if _, _, err := m.opened(Options{CacheDir: t.TempDir()}); !errors.Is(err, errNoGPU) {
		t.Errorf("no GPU: error is %v", err)
	}
}

func TestCUDADataDir(t *testing.T) {
	for plugin, data := range map[string]string{
		"site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so":        "site-packages/nvidia/cu13",
		"old/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so":    "old/site-packages/nvidia/cuda_nvcc",
		"lib/go-xla/nvidia/pjrt_c_api_cuda_plugin.so":                    "lib/go-xla/nvidia/cu13",
		"system/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so": "",
	} {
		root := t.TempDir()
		p := touch(t, root, plugin)
		want := ""
		if data != "" {
			want = filepath.Join(root, data)
			touch(t, want, "bin", "ptxas")
		}
		if got := cudaDataDir(p); got != want {
			t.Errorf("%s: %q, want %q", plugin, got, want)
		}
	}
}

// cudaIndex is an index with the CUDA plugin and two libraries; the pinned SHA-256 is set aside.
func cudaIndex(t *testing.T) *fakeIndex {
	t.Helper()
	x := newFakeIndex(t)
	before := cudaWheel
	cudaWheel = wheel{Package: before.Package, Version: fakeVersion, Platform: linuxAMD64} // no digest
	t.Cleanup(func() { cudaWheel = before })
	x.add(t, cudaWheel.Package, "jax_plugins/xla_cuda13/xla_cuda_plugin.so", fakeContent)
	x.add(t, cudaLibraries, "unused", nil)
	x.add(t, "nvidia-a", "nvidia/cu13/lib/liba.so", []byte("a"))
	x.add(t, "nvidia-b", "nvidia/cu13/lib/libb.so", []byte("b"))
	x.requires[cudaLibraries] = []string{`nvidia-a<2.0,>=1.0; extra == "with-cuda"`, "nvidia-b", "jax==1"}
	return x
}

func TestInstallCUDA(t *testing.T) {
	x := cudaIndex(t)
	o := Options{CacheDir: t.TempDir()}
	for range 2 {
		file := must.Get(installCUDA(context.Background(), o))(t)
		if want := filepath.Join(cudaDir(o.CacheDir), "jax_plugins/xla_cuda13/xla_cuda_plugin.so"); file != want {
			t.Errorf("installed %s, want %s", file, want)
		}
		if got, want := cudaDataDir(file), filepath.Join(cudaDir(o.CacheDir), "nvidia/cu13"); got != want {
			t.Errorf("data folder %q, want %q", got, want)
		}
	}
	if n := x.downloads.Load(); n != 3 {
		t.Errorf("%d downloads, want 3: plugin and two libraries, once", n)
	}
}

// TestInstallCUDARefuses: all is installed or nothing; a wheel of the index must not write elsewhere, nor be a bomb.
func TestInstallCUDARefuses(t *testing.T) {
	before := wheelLimits
	wheelLimits.Bytes = 1 << 20
	t.Cleanup(func() { wheelLimits = before })
	for name, change := range map[string]func(x *fakeIndex){
		"no version fits": func(x *fakeIndex) { x.requires[cudaLibraries] = append(x.requires[cudaLibraries], "nvidia-a>=7") },
		"no archive":      func(x *fakeIndex) { x.wheels["nvidia-b"] = []byte("no archive") },
		"leads out": func(x *fakeIndex) {
			x.add(t, "nvidia-b", "../"+cudaWheel.Package+"-"+fakeVersion+".partial-evil", []byte("b"))
		},
		"not printable": func(x *fakeIndex) { x.add(t, "nvidia-b", "nvidia/\x1b[2J", []byte("b")) },
		"a bomb":        func(x *fakeIndex) { x.add(t, "nvidia-b", "nvidia/bomb", make([]byte, 2<<20)) },
	} {
		x := cudaIndex(t)
		change(x)
		o := Options{CacheDir: t.TempDir()}
		if _, err := installCUDA(t.Context(), o); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: error %q", name, err)
		}
		if left, _ := os.ReadDir(pluginDir(o.CacheDir)); len(left) != 1 || left[0].Name() != ".lock" {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}
