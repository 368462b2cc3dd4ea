package backend

import (
	"context"
	"strings"
	"testing"
)

func TestOpenRefusesBadOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"unknown name":      {Options{Name: "tpu"}, `unknown backend "tpu"`},
		"negative threads":  {Options{Threads: -1}, "threads = -1"},
		"too many threads":  {Options{Threads: 1 << 20}, "threads = 1048576"},
		"unknown vectors":   {Options{Vectors: "sse"}, `vectors = "sse"`},
		"negative devices":  {Options{Devices: -2}, "devices = -2"},
		"too many devices":  {Options{Devices: 1 << 20}, "devices = 1048576"},
		"plugin for go":     {Options{Name: Go, Plugin: "p.so"}, "uses no plugin"},
		"devices of go":     {Options{Name: Go, Devices: 2}, "one device only"},
		"no install, no so": {Options{Name: XLACPU, CacheDir: t.TempDir(), NoInstall: true}, "backend xla-cpu"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Open(context.Background(), c.o)
			if err == nil {
				b.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestOpenStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, Options{Name: Go}); err != context.Canceled {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestCloseTwiceAndNil(t *testing.T) {
	b, err := Open(context.Background(), Options{Name: Go})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := (*Backend)(nil).Close(); err != nil {
		t.Error(err)
	}
}

func TestInfoString(t *testing.T) {
	i := Info{Name: XLACPU, Device: "a CPU", Threads: 4, Devices: 2, Reason: "asked for by name"}
	if got, want := i.String(), "xla-cpu (a CPU, 4 threads, 2 devices): asked for by name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPluginKindLooksAtTheEndOfThePath(t *testing.T) {
	for path, want := range map[string]string{
		"/x/jax_plugins/xla_cuda13/xla_cuda_plugin.so":     XLACUDA,
		"/x/go-xla/nvidia/pjrt_c_api_cuda_plugin.so":       XLACUDA,
		"/home/nvidia/cuda/plugins/cpu-1/xla_cpu_pjrt.so":  XLACPU,
		"/home/cuda/.cache/parallelcl/plugins/x/plugin.so": XLACPU,
	} {
		if got := pluginKind(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
