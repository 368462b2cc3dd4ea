//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/must"
)

func mustOpen(t testing.TB, o Options) *Backend {
	t.Helper()
	b := must.Get(Open(context.Background(), o))(t)
	t.Cleanup(func() { b.Close() })
	return b
}

// mustMultiply has the backend multiply matrices and fails if the result is wrong.
func mustMultiply(t testing.TB, b *Backend) {
	t.Helper()
	if _, err := timeMatmul(t.Context(), b, 64); err != nil {
		t.Error(err)
	}
}

// poolThreads returns the folders in /proc of the threads of XLA's CPU pools in this process.
func poolThreads(t *testing.T) (folders []string) {
	t.Helper()
	names := must.Get(filepath.Glob("/proc/self/task/*/comm"))(t)
	for _, f := range names {
		if name, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(name), "tf_XLAEigen") {
			folders = append(folders, filepath.Dir(f))
		}
	}
	return folders
}

func TestXLACPU(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, cache: realCache(t)})
	mustMultiply(t, b)
	i := b.Info
	if i.Name != XLACPU || i.PluginVersion != "0.81" || i.Threads != 1 || i.Device == "" {
		t.Errorf("%+v", i)
	}
	if i.Plugin != realPlugin(t) {
		t.Errorf("plugin %s", i.Plugin)
	}
}

// Several backends with different pools live in one process: the plugin takes the size from the
// environment whenever it creates a client.
func TestEachOpenHasItsOwnThreads(t *testing.T) {
	cache := realCache(t)
	t.Setenv("NPROC", "7")
	for _, threads := range []int{0, 2, 5, 1} {
		before := len(poolThreads(t))
		b := mustOpen(t, Options{Name: XLACPU, cache: cache, Threads: threads, Clients: 1})
		mustMultiply(t, b)
		want := max(threads, 1)
		if got := len(poolThreads(t)) - before; got != want {
			t.Errorf("Threads: %d started %d, want %d", threads, got, want)
		}
		if b.Info.Threads != want {
			t.Errorf("Threads: %d: Info says %d, want %d", threads, b.Info.Threads, want)
		}
	}
	if got := os.Getenv("NPROC"); got != "7" {
		t.Errorf("NPROC is %q afterwards, was 7", got)
	}
}

func TestMisleadingPaths(t *testing.T) {
	real := realPlugin(t)
	for _, name := range []string{"nvidia", "CUDA", "with,comma", "plain"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name, "plugins", "plugin.so")
			must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
			must.Do(t, os.Symlink(real, file))
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			for range 2 {
				b := openCPUPlugin(file, Options{})
				t.Cleanup(func() { b.Close() })
				mustMultiply(t, b)
				if b.Info.Name != XLACPU || b.Info.Plugin != file {
					t.Errorf("%+v", b.Info)
				}
				x := b.Backend.(*xla.Backend)
				if !x.IsCPU() || x.IsCUDA() || !x.HasSharedBuffers() {
					t.Errorf("taken for CPU: %v, CUDA: %v; shared buffers: %v", x.IsCPU(), x.IsCUDA(), x.HasSharedBuffers())
				}
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("left behind in the temporary folder: %v", left)
			}
		})
	}
}

func TestCloseBeforeItsTensors(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, cache: realCache(t)})
	exec := graph.MustNewExec(b, func(x *graph.Node) *graph.Node { return graph.AddScalar(x, 1) })
	y := must.Get(exec.Call1(tensors.FromScalarAndDimensions(float32(1), 1<<16)))(t)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if !b.IsFinalized() {
		t.Error("not closed")
	}
	runtime.KeepAlive(y)
	y, exec = nil, nil
	for range 3 { // the finalisers must cope with a closed backend
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
}

func TestConcurrentOpen(t *testing.T) {
	cache := realCache(t)
	var wg sync.WaitGroup
	for n := range 6 {
		wg.Go(func() {
			b, err := Open(context.Background(), Options{Name: XLACPU, cache: cache, Threads: n%3 + 1})
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			mustMultiply(t, b)
		})
	}
	wg.Wait()
}

const childQuiet = "PARALLELCL_TEST_QUIET"

// The libraries below must not write to the terminal.
func TestOpenIsQuiet(t *testing.T) {
	if dir := os.Getenv(childQuiet); dir != "" {
		mustMultiply(t, mustOpen(t, Options{Name: XLACPU, cache: dir}))
		mustMultiply(t, mustOpen(t, Options{Name: Go}))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOpenIsQuiet$", "-test.count=1")
	cmd.Env = append(os.Environ(), childQuiet+"="+realCache(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := string(bytes.TrimSpace(out)); got != "PASS" {
		t.Errorf("wrote %q", got)
	}
}

const childHomeless = "PARALLELCL_TEST_HOMELESS"

// Without a home folder there is one line about what that means, and the rest works.
func TestWithoutHome(t *testing.T) {
	if os.Getenv(childHomeless) != "" {
		if v, ok := os.LookupEnv("PJRT_PLUGIN_LIBRARY_PATH"); ok {
			t.Errorf("the environment has %s", v)
		}
		b := mustOpen(t, Options{Progress: os.Stderr})
		mustMultiply(t, b)
		return
	}
	if hasNVIDIA() {
		t.Skip("there is a GPU: auto would take it")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestWithoutHome$", "-test.count=1")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), childHomeless + "=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "Using the pure-Go backend (slow): ") || !strings.Contains(lines[0], "HOME") || lines[1] != "PASS" {
		t.Errorf("wrote %q", out)
	}
}

// TestTF32IsAskedFor: NVIDIA's libraries round in convolutions unless they are told not to. A user's own value stays.
func TestTF32IsAskedFor(t *testing.T) {
	for _, c := range []struct {
		given *string
		tf32  bool
		want  string
	}{{nil, false, "0"}, {nil, true, ""}, {new("1"), false, "1"}} {
		t.Setenv(tf32Env, "") // restores it at the end
		os.Unsetenv(tf32Env)
		if c.given != nil {
			os.Setenv(tf32Env, *c.given)
		}
		if err := fail.Tried(func() { openCUDAPlugin(filepath.Join(t.TempDir(), "none.so"), Options{TF32: c.tf32}) }); err == nil {
			t.Fatal("a plugin that is not there was opened")
		}
		if got := os.Getenv(tf32Env); got != c.want {
			t.Errorf("TF32 %t: %s is %q, want %q", c.tf32, tf32Env, got, c.want)
		}
	}
}
