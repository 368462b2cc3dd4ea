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
	if r.Go != runtime.Version() || r.OS != runtime.GOOS || r.Arch != runtime.GOARCH || r.Cores < 1 || r.CPU == "" ||
		r.CacheDir == "" {
		t.Errorf("%+v", r)
	}
	if runtime.GOOS == "linux" && (r.Memory <= 0 || r.Free <= 0 || r.Free > r.Memory) {
		t.Errorf("memory %d, available %d", r.Memory, r.Free)
	}
	if len(r.Backends) != 1 || len(r.Backends[0].Matmul) != 2 {
		t.Fatalf("backends %+v", r.Backends)
	}
	for _, m := range r.Backends[0].Matmul {
		if want := 2 * float64(m.N) * float64(m.N) * float64(m.N) / m.Seconds / 1e9; m.GFLOPS != want || m.Seconds <= 0 {
			t.Errorf("%+v, want %g GFLOP/s", m, want)
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
	if r.Chosen != b.Info.Name || len(r.Backends) != 3 || r.Backends[1].Error != "offline" {
		t.Errorf("the doctor chose %s, Open %s; %+v", r.Chosen, b.Info.Name, r.Backends)
	}
}
