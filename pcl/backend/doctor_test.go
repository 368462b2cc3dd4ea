package backend

import (
	"errors"
	"runtime"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// smallMatmuls keeps the pure-Go backend from taking seconds.
func smallMatmuls(t *testing.T) {
	before := matmulSizes
	matmulSizes = []int{32, 64}
	t.Cleanup(func() { matmulSizes = before })
}

func TestDoctor(t *testing.T) {
	smallMatmuls(t)
	r := Doctor(t.Context(), Options{Name: Go})
	if r.Error != "" || r.Chosen != Go {
		t.Errorf("chosen %q, error %q", r.Chosen, r.Error)
	}
	switch {
	case r.Go != runtime.Version():
		t.Errorf("r.Go is %q; want %q", r.Go, runtime.Version())
	case r.OS != runtime.GOOS:
		t.Errorf("r.OS is %q; want %q", r.OS, runtime.GOOS)
	case r.Arch != runtime.GOARCH:
		t.Errorf("r.Arch is %q; want %q", r.Arch, runtime.GOARCH)
	case r.Cores < 1:
		t.Errorf("r.Cores is %d; want at least 1", r.Cores)
	case r.CPU == "":
		t.Error("r.CPU is empty")
	case r.CacheDir == "":
		t.Error("r.CacheDir is empty")
	}
	if runtime.GOOS == "linux" && (r.Memory <= 0 || r.Free <= 0 || r.Free > r.Memory) {
		t.Errorf("memory %d, available %d", r.Memory, r.Free)
	}
	switch {
	case len(r.Backends) != 1:
		t.Fatalf("len(r.Backends) is %d; want 1", len(r.Backends))
	case len(r.Backends[0].Matmul) != 2:
		t.Fatalf("len(r.Backends[0].Matmul) is %d; want 2", len(r.Backends[0].Matmul))
	}
	for _, m := range r.Backends[0].Matmul {
		switch want := 2 * float64(m.N) * float64(m.N) * float64(m.N) / m.Seconds / 1e9; {
		case m.GFLOPS != want:
			t.Errorf("m.GFLOPS is %g; want %g", m.GFLOPS, want)
		case m.Seconds <= 0:
			t.Errorf("m.Seconds is %g; want more than 0", m.Seconds)
		}
	}
}

func TestDoctorChoosesLikeOpen(t *testing.T) {
	smallMatmuls(t)
	offline := errors.New("offline")
	all := fakeDrivers(errors.New("no GPU"), offline, nil)
	all[2] = drivers[2]
	var r Report
	r.examine(t.Context(), Options{Name: Auto}, all)
	b := must.Get(open(t.Context(), Options{Name: Auto}, all))(t)
	defer b.Close()
	switch {
	case r.Chosen != b.Info.Name:
		t.Errorf("r.Chosen is %q; want %q", r.Chosen, b.Info.Name)
	case len(r.Backends) != 3:
		t.Errorf("len(r.Backends) is %d; want 3", len(r.Backends))
	case r.Backends[1].Error != "offline":
		t.Errorf("r.Backends[1].Error is %q; want %q", r.Backends[1].Error, "offline")
	}
}
