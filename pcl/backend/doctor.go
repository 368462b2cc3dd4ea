package backend

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// Report is what [Doctor] found: the machine, the versions, and every backend with its speed.
type Report struct {
	Go       string          `json:"go"` // the Go version of the build
	OS       string          `json:"os"`
	Arch     string          `json:"arch"`
	CPU      string          `json:"cpu"`
	Cores    int             `json:"cores"`
	Memory   int64           `json:"memory_bytes,omitempty"`           // 0: unknown
	Free     int64           `json:"memory_available_bytes,omitempty"` // 0: unknown
	GPU      bool            `json:"nvidia_gpu"`
	CacheDir string          `json:"cache_dir"`
	Modules  []Module        `json:"modules"`
	Backends []BackendReport `json:"backends"`
	Chosen   string          `json:"chosen,omitempty"` // what Open would take
	Reason   string          `json:"reason,omitempty"` // and why
	Error    string          `json:"error,omitempty"`  // why nothing can be opened
}

// Module is a Go module of the program and its version.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// BackendReport is the examination of one backend.
type BackendReport struct {
	Name   string   `json:"name"`
	Info   *Info    `json:"info,omitempty"` // nil if it did not open
	Open   float64  `json:"open_seconds,omitempty"`
	Matmul []Matmul `json:"matmul,omitempty"`
	Error  string   `json:"error,omitempty"` // it did not open, or did not compute
}

// Matmul is the speed of the product of two N×N float32 matrices.
type Matmul struct {
	N       int     `json:"n"`
	Seconds float64 `json:"seconds"` // median of several products
	GFLOPS  float64 `json:"gflops"`  // 10⁹ floating-point operations per second, 2N³ per product
}

// matmulSizes are the sides of the square matrices that Doctor multiplies.
var matmulSizes = []int{512, 1024}

const (
	matmulBudget  = 500 * time.Millisecond
	matmulMinRuns = 3
	matmulMaxRuns = 25
)

// Doctor examines the machine and every backend that o allows: it opens each (installing a plugin
// if need be), and multiplies matrices on it. Whatever fails is in the report.
func Doctor(ctx context.Context, o Options) Report {
	r := Report{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: cpuModel(vectors()), Cores: runtime.NumCPU(), GPU: thisMachine.hasGPU(), Modules: modules(),
	}
	r.Memory, r.Free = memoryBytes()
	o, err := o.checked()
	r.CacheDir = o.cache
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.examine(ctx, o, drivers)
	return r
}

// examine opens and measures the drivers that o allows. The first that opens is the one that Open would take.
func (r *Report) examine(ctx context.Context, o Options, all []driver) {
	var failed []error
	r.Error = "no backend works"
	if o.Name != Auto {
		r.Error = "the backend " + o.Name + " does not work here"
	}
	for _, d := range all {
		if o.Name != Auto && o.Name != d.name {
			continue
		}
		b, err := examineOne(ctx, o, d)
		r.Backends = append(r.Backends, b)
		switch {
		case b.Info == nil:
			failed = append(failed, fmt.Errorf("%s: %w", d.name, err))
		case r.Chosen == "":
			r.Chosen, r.Reason, r.Error = b.Name, reason(o, failed), ""
			if err != nil {
				r.Error = fmt.Sprintf("backend %s opens, but does not work: %s", b.Name, b.Error)
			}
		}
	}
}

// examineOne opens one backend and measures it.
func examineOne(ctx context.Context, o Options, d driver) (r BackendReport, err error) {
	r.Name = d.name
	defer func() {
		if err != nil {
			r.Error = printable.Line(err.Error())
		}
	}()
	start := time.Now()
	b, err := d.try(ctx, o)
	if err != nil {
		return r, err
	}
	defer b.Close()
	b.Info.Reason = "opened for examination"
	r.Info, r.Open = &b.Info, time.Since(start).Seconds()
	for _, n := range matmulSizes {
		m, err := timeMatmul(ctx, b, n)
		if err != nil {
			return r, err
		}
		r.Matmul = append(r.Matmul, m)
	}
	return r, nil
}

// timeMatmul multiplies a constant n×n matrix with itself, checks the result and takes the median
// of several times. The result stays on the device; compiling and the first run are not timed.
func timeMatmul(ctx context.Context, b *Backend, n int) (m Matmul, err error) {
	defer recoverTo(&err, fmt.Sprintf("multiply %d×%d matrices", n, n))
	exec := graph.MustNewExec(b, func(x *graph.Node) *graph.Node { return graph.Dot(x, x).Product() })
	defer exec.Finalize()
	x := tensors.FromScalarAndDimensions(float32(0.5), n, n)
	defer x.FinalizeAll()
	if err := multiplyOnce(exec, x, n); err != nil {
		return m, err
	}
	var times []time.Duration
	for start := time.Now(); len(times) < matmulMinRuns || time.Since(start) < matmulBudget && len(times) < matmulMaxRuns; {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		t := time.Now()
		y := exec.MustCall1(x)
		times = append(times, time.Since(t))
		y.FinalizeAll()
	}
	slices.Sort(times)
	s := times[len(times)/2].Seconds()
	return Matmul{N: n, Seconds: s, GFLOPS: 2 * float64(n) * float64(n) * float64(n) / s / 1e9}, nil
}

// multiplyOnce checks that every entry of the product of two matrices of halves is n/4.
func multiplyOnce(exec *graph.Exec, x *tensors.Tensor, n int) error {
	y := exec.MustCall1(x)
	defer y.FinalizeAll()
	want := float32(n) / 4
	for i, v := range tensors.MustCopyFlatData[float32](y) {
		if v != want {
			return fmt.Errorf("wrong product of %d×%d matrices: entry %d is %g, must be %g", n, n, i, v, want)
		}
	}
	return nil
}

// modules lists the versions of what the backends are built from.
func modules() (found []Module) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, path := range []string{"github.com/gomlx/gomlx", "github.com/gomlx/compute", "github.com/gomlx/go-xla"} {
		if i := slices.IndexFunc(build.Deps, func(m *debug.Module) bool { return m.Path == path }); i >= 0 {
			found = append(found, Module{path, build.Deps[i].Version})
		}
	}
	return found
}
