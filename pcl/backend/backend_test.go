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
		"unknown name":     {Options{Name: "tpu"}, `unknown backend "tpu"`},
		"negative threads": {Options{Threads: -1}, "threads = -1"},
		"too many threads": {Options{Threads: 1 << 20}, "threads = 1048576"},
		"unknown vectors":  {Options{Vectors: "sse"}, `vectors = "sse"`},
		"too many clients": {Options{Clients: 1 << 20}, "clients = 1048576"},
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
