package backend

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// real is one installation of the true XLA CPU plugin (259 MB) for all the tests that need it.
var real struct {
	once sync.Once
	dir  string
	skip string
	err  error
}

func TestMain(m *testing.M) {
	setVectors(AVX2, vectors()) // of which there are known bits, and a process cannot change
	code := m.Run()
	if real.dir != "" {
		os.RemoveAll(real.dir)
	}
	os.Exit(code)
}

// realCache is a cache folder with the true plugin; without a network the test is skipped.
func realCache(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short: installs no plugin")
	}
	real.once.Do(installReal)
	switch {
	case real.skip != "":
		t.Skip(real.skip)
	case real.err != nil:
		t.Fatal(real.err)
	}
	return real.dir
}

func installReal() {
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Head("https://pypi.org/pypi/" + cpuPlugin.Package + "/json")
	if err != nil {
		real.skip = "no network: the XLA CPU plugin cannot be installed: " + err.Error()
		return
	}
	resp.Body.Close()
	if real.dir, real.err = os.MkdirTemp("", "parallelcl-test-"); real.err != nil {
		return
	}
	_, real.err = cpuPlugin.tried(context.Background(), Options{cache: real.dir})
}

// realPlugin is the file of the true plugin.
func realPlugin(t testing.TB) string {
	t.Helper()
	return filepath.Join(cpuPlugin.folder(realCache(t)), cpuPlugin.File)
}
