package backend

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// fakeDriver opens unless it is told an error.
func fakeDriver(name string, err error) driver {
	return driver{
		name: name,
		open: func(context.Context, Options) (*Backend, error) {
			return &Backend{Info: Info{Name: name}}, err
		},
	}
}

func fakeDrivers(cuda, cpu, pure error) []driver {
	return []driver{fakeDriver(XLACUDA, cuda), fakeDriver(XLACPU, cpu), fakeDriver(Go, pure)}
}

func TestAutoTakesTheFirstThatWorks(t *testing.T) {
	noGPU, offline := errors.New("no GPU"), errors.New("offline:\n no route")
	for name, c := range map[string]struct {
		cuda, cpu error
		reason    string
		notice    string
	}{
		"gpu": {nil, nil, "first choice", ""},
		"cpu": {noGPU, nil, "best available; xla-cuda: no GPU", ""},
		"go": {noGPU, offline, "best available; xla-cuda: no GPU; xla-cpu: offline: no route",
			"Using the pure-Go backend (slow): best available; xla-cuda: no GPU; xla-cpu: offline: no route\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var notice bytes.Buffer
			b := must.Get(open(context.Background(), Options{Name: Auto, Progress: &notice}, fakeDrivers(c.cuda, c.cpu, nil)))(t)
			if b.Info.Reason != c.reason {
				t.Errorf("reason %q, want %q", b.Info.Reason, c.reason)
			}
			if notice.String() != c.notice {
				t.Errorf("notice %q, want %q", notice.String(), c.notice)
			}
		})
	}
}

// TestNamedBackend: a backend that was asked for by name is not replaced by another, and the notice
// about a slow one is left out.
func TestNamedBackend(t *testing.T) {
	offline := errors.New("offline")
	_, err := open(context.Background(), Options{Name: XLACPU}, fakeDrivers(nil, offline, nil))
	expect.Refusal(t, "open", err, offline, XLACPU)
	var notice bytes.Buffer
	b := must.Get(open(context.Background(), Options{Name: Go, Progress: &notice},
		fakeDrivers(errors.New("no GPU"), nil, nil)))(t)
	switch {
	case b.Info.Name != Go:
		t.Errorf("b.Info.Name is %q; want %q", b.Info.Name, Go)
	case b.Info.Reason != "asked for by name":
		t.Errorf("b.Info.Reason is %q; want %q", b.Info.Reason, "asked for by name")
	case notice.Len() > 0:
		t.Errorf("notice.Len() is %d; want at most 0", notice.Len())
	}
}

// TestFailures: all reasons are in the error, a panic of the library is one, and a cancelled
// installation does not fall back.
func TestFailures(t *testing.T) {
	a, b, c := errors.New("one"), errors.New("two"), errors.New("three")
	_, err := open(context.Background(), Options{Name: Auto}, fakeDrivers(a, b, c))
	expect.Refusal(t, "open", err, a, b, c)
	all := fakeDrivers(a, nil, nil)
	all[1].open = func(context.Context, Options) (*Backend, error) { panic("segment 7") }
	switch o, err := open(context.Background(), Options{Name: Auto}, all); {
	case err != nil:
		t.Error(err)
	case o.Info.Name != Go:
		t.Errorf("o.Info.Name is %q; want %q", o.Info.Name, Go)
	case !strings.Contains(o.Info.Reason, "segment 7"):
		t.Errorf("o.Info.Reason is %q; want %q in it", o.Info.Reason, "segment 7")
	}
	ctx, cancel := context.WithCancel(context.Background())
	all[1].open = func(context.Context, Options) (*Backend, error) {
		cancel()
		return nil, errors.New("download stopped")
	}
	if _, err := open(ctx, Options{Name: Auto}, all); err != context.Canceled {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestOpenRefuses: options that make no sense, and a context that has ended.
func TestOpenRefuses(t *testing.T) {
	for _, o := range []Options{
		{Name: "tpu"}, {Threads: -1}, {Threads: 1 << 20}, {Vectors: "sse"}, {Clients: 1 << 20}, {Nice: -1}, {Nice: 20},
	} {
		t.Run(o.Name, func(t *testing.T) {
			if b, err := Open(t.Context(), o); err == nil {
				b.Close()
				t.Errorf("%+v: no error", o)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Options{Name: Go}); err != context.Canceled {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}
