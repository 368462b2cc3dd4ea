//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"runtime"
	"strings"
	"testing"
)

func TestClients(t *testing.T) {
	before := len(poolThreads(t))
	b := mustOpen(t, Options{Name: XLACPU, cache: realCache(t), Clients: 3})
	clients := b.Clients()
	if len(clients) != 3 || clients[0] != b.Backend || clients[1] == clients[2] || clients[0] == clients[1] {
		t.Fatalf("clients %v", clients)
	}
	if got := len(poolThreads(t)) - before; got != 3 {
		t.Errorf("%d threads, want one for each client", got)
	}
	if b.Info.Clients != 3 || b.Info.Threads != 1 || !strings.Contains(b.Info.String(), "1 thread in each of 3 clients") {
		t.Errorf("%+v: %s", b.Info, b.Info)
	}
	b.Close()
	for i, c := range clients {
		if !c.IsFinalized() {
			t.Errorf("client %d was not closed", i)
		}
	}
	for _, o := range []Options{{Clients: 1}, {Threads: 1}} {
		o.Name, o.cache = XLACPU, realCache(t)
		one := mustOpen(t, o)
		if c := one.Clients(); len(c) != 1 || c[0] != one.Backend || one.Info.Clients != 0 {
			t.Errorf("one client: %v, %+v", c, one.Info)
		}
	}
	many := mustOpen(t, Options{Name: XLACPU, cache: realCache(t)})
	if n := len(many.Clients()); n != min(runtime.GOMAXPROCS(0), mostClients) {
		t.Errorf("%d clients by default", n)
	}
}

// Where clients could not read each other's memory there is one, or none.
func TestClientsNeedSharedMemory(t *testing.T) {
	t.Setenv(envSeparate, "1")
	if b, err := Open(t.Context(), Options{Name: XLACPU, cache: realCache(t), Clients: 2}); err == nil {
		b.Close()
		t.Error("two clients with separate memory")
	}
}
