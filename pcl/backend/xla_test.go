//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"context"
	"fmt"
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

// Several backends with different pools live in one process: the plugin takes the size from the
// environment whenever it creates a client.
func TestEachOpenHasItsOwnThreads(t *testing.T) {
	cache := realCache(t)
	t.Setenv("NPROC", "7")
	for _, threads := range []int{0, 2, 5, 1} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			before := len(poolThreads(t))
			b := mustOpen(t, Options{Name: XLACPU, cache: cache, Threads: threads, Clients: 1})
			mustMultiply(t, b)
			want := max(threads, 1)
			if got := len(poolThreads(t)) - before; got != want {
				t.Errorf("Threads: %d started %d, want %d", threads, got, want)
			}
			switch i := b.Info; {
			case i.Threads != want:
				t.Errorf("Threads: i.Threads is %d; want %d", i.Threads, want)
			case i.Name != XLACPU:
				t.Errorf("Threads: i.Name is %q; want %q", i.Name, XLACPU)
			case i.PluginVersion != "0.81":
				t.Errorf("Threads: i.PluginVersion is %q; want %q", i.PluginVersion, "0.81")
			case i.Device == "":
				t.Error("Threads: i.Device is empty")
			case i.Plugin != realPlugin(t):
				t.Errorf("Threads: %d: %+v", threads, i)
			}
		})
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
			for range 2 {
				b := must.Get(openCPUPlugin(file, Options{}))(t)
				t.Cleanup(func() { b.Close() })
				mustMultiply(t, b)
				switch {
				case b.Info.Name != XLACPU:
					t.Errorf("b.Info.Name is %q; want %q", b.Info.Name, XLACPU)
				case b.Info.Plugin != file:
					t.Errorf("b.Info.Plugin is %q; want %q", b.Info.Plugin, file)
				}
				x := b.Backend.(*xla.Backend)
				switch {
				case !x.IsCPU():
					t.Error("taken for CPU: x.IsCPU() is false")
				case x.IsCUDA():
					t.Error("taken for CPU: x.IsCUDA() is true")
				case !x.HasSharedBuffers():
					t.Error("taken for CPU: x.HasSharedBuffers() is false")
				}
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

// inChild runs a test once more in a process with another environment, and returns the lines that
// it wrote.
func inChild(t *testing.T, env ...string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

const childQuiet, childHomeless = "PARALLELCL_TEST_QUIET", "PARALLELCL_TEST_HOMELESS"

// The libraries below must not write to the terminal.
func TestOpenIsQuiet(t *testing.T) {
	if dir := os.Getenv(childQuiet); dir != "" {
		mustMultiply(t, mustOpen(t, Options{Name: XLACPU, cache: dir}))
		mustMultiply(t, mustOpen(t, Options{Name: Go}))
		return
	}
	if wrote := inChild(t, append(os.Environ(), childQuiet+"="+realCache(t))...); len(wrote) != 1 || wrote[0] != "PASS" {
		t.Errorf("wrote %q", wrote)
	}
}

// Without a home folder there is one line about what that means, and the rest works.
func TestWithoutHome(t *testing.T) {
	if os.Getenv(childHomeless) != "" {
		if v, ok := os.LookupEnv("PJRT_PLUGIN_LIBRARY_PATH"); ok {
			t.Errorf("the environment has %s", v)
		}
		mustMultiply(t, mustOpen(t, Options{Progress: os.Stderr}))
		return
	}
	if hasNVIDIA() {
		t.Skip("there is a GPU: auto would take it")
	}
	wrote := inChild(t, "PATH="+os.Getenv("PATH"), childHomeless+"=1")
	switch {
	case len(wrote) != 2:
		t.Errorf("len(wrote) is %d; want 2", len(wrote))
	case !strings.HasPrefix(wrote[0], "Using the pure-Go backend (slow): "):
		t.Errorf("wrote[0] is %q; want %q at its beginning", wrote[0], "Using the pure-Go backend (slow): ")
	case !strings.Contains(wrote[0], "HOME"):
		t.Errorf("wrote[0] is %q; want %q in it", wrote[0], "HOME")
	case wrote[1] != "PASS":
		t.Errorf("wrote[1] is %q; want %q", wrote[1], "PASS")
	}
}

// TestTF32IsAskedFor: NVIDIA's libraries round in convolutions unless they are told not to. A
// user's own value stays.
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
		if _, err := openCUDAPlugin(filepath.Join(t.TempDir(), "none.so"), Options{TF32: c.tf32}); err == nil {
			t.Fatal("a plugin that is not there was opened")
		}
		if got := os.Getenv(tf32Env); got != c.want {
			t.Errorf("TF32 %t: %s is %q, want %q", c.tf32, tf32Env, got, c.want)
		}
	}
}
