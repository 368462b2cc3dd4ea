package backend

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// Report is what [Doctor] found: the machine, and every backend with its speed.
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
	Backends []backendReport `json:"backends"`
	Chosen   string          `json:"chosen,omitempty"` // what Open would take: the first that opens
	Error    string          `json:"error,omitempty"`  // why nothing can be opened
}

type backendReport struct {
	Name   string   `json:"name"`
	Info   *Info    `json:"info,omitempty"` // nil if it did not open
	Open   float64  `json:"open_seconds,omitempty"`
	Matmul []matmul `json:"matmul,omitempty"`
	Error  string   `json:"error,omitempty"` // it did not open, or did not compute
}

// matmul is the speed of the product of two N×N float32 matrices.
type matmul struct {
	N       int     `json:"n"`
	Seconds float64 `json:"seconds"` // median of several products
	GFLOPS  float64 `json:"gflops"`  // 10⁹ floating-point operations per second, 2N³ per product
}

// matmulSizes are the sides of the square matrices that Doctor multiplies, and matmulRuns how often
// it does.
var matmulSizes = []int{512, 1024}

const matmulRuns = 7

// Doctor examines the machine and every backend that o allows: it opens each (installing a plugin
// if need be), and multiplies matrices on it. Whatever fails is in the report.
func Doctor(ctx context.Context, o Options) Report {
	r := Report{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: cpuModel(vectors()), Cores: runtime.NumCPU(), GPU: thisMachine.hasGPU(),
	}
	r.Memory, r.Free = memoryBytes()
	o.Verify = true
	o, err := o.checked()
	r.CacheDir = o.cache
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.examine(ctx, o, drivers)
	return r
}

// examine opens and measures the drivers that o allows.
func (r *Report) examine(ctx context.Context, o Options, all []driver) {
	for _, d := range all {
		if o.Name == Auto || o.Name == d.name {
			r.Backends = append(r.Backends, examineOne(ctx, o, d))
		}
	}
	opened := slices.IndexFunc(r.Backends, func(b backendReport) bool { return b.Info != nil })
	if opened < 0 {
		r.Error = "the backend " + o.Name + " does not work here"
		return
	}
	b := r.Backends[opened]
	if r.Chosen = b.Name; b.Error != "" {
		r.Error = fmt.Sprintf("backend %s opens, but does not work: %s", b.Name, b.Error)
	}
}

func examineOne(ctx context.Context, o Options, d driver) backendReport {
	r := backendReport{Name: d.name}
	start := time.Now()
	b, err := d.try(ctx, o)
	if err != nil {
		r.Error = printable.Line(err.Error())
		return r
	}
	defer b.Close()
	b.Info.Reason = "opened for examination"
	r.Info, r.Open = &b.Info, time.Since(start).Seconds()
	for _, n := range matmulSizes {
		m, err := timeMatmul(ctx, b, n)
		if err != nil {
			r.Error = printable.Line(err.Error())
			break
		}
		r.Matmul = append(r.Matmul, m)
	}
	return r
}

// timeMatmul multiplies a constant n×n matrix with itself, checks the result and takes the median
// of several times. Compiling, the first run and the check are not timed.
func timeMatmul(ctx context.Context, b *Backend, n int) (m matmul, err error) {
	defer recoverTo(&err, fmt.Sprintf("multiply %d×%d matrices", n, n))
	exec := graph.MustNewExec(b, func(x *graph.Node) *graph.Node { return graph.Dot(x, x).Product() })
	defer exec.Finalize()
	x := tensors.FromScalarAndDimensions(float32(0.5), n, n)
	defer x.FinalizeAll()
	times := make([]float64, 0, matmulRuns)
	for range 1 + matmulRuns {
		start := time.Now()
		y := exec.MustCall1(x)
		times = append(times, time.Since(start).Seconds())
		flat := tensors.MustCopyFlatData[float32](y)
		y.FinalizeAll()
		if i := slices.IndexFunc(flat, func(v float32) bool { return v != float32(n)/4 }); i >= 0 {
			return m, fmt.Errorf("wrong product of %d×%d matrices: entry %d is %g, must be %g", n, n, i, flat[i], float32(n)/4)
		}
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
	}
	times = times[1:]
	slices.Sort(times)
	s := times[matmulRuns/2]
	return matmul{N: n, Seconds: s, GFLOPS: 2 * float64(n) * float64(n) * float64(n) / s / 1e9}, nil
}
