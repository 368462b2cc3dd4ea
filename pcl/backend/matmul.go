package backend

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Matmul is the speed of the product of two N×N float32 matrices.
type Matmul struct {
	N       int     `json:"n"`
	Seconds float64 `json:"seconds"` // median of several products
	GFLOPS  float64 `json:"gflops"`  // 10⁹ floating-point operations per second, 2N³ per product
}

const (
	matmulBudget  = 500 * time.Millisecond
	matmulMinRuns = 3
	matmulMaxRuns = 25
)

// timeMatmul multiplies a constant n×n matrix with itself, checks the result and takes the median
// of several times. The result stays on the device; compiling and the first run are not timed.
func timeMatmul(ctx context.Context, b compute.Backend, n int) (m Matmul, err error) {
	defer recoverTo(&err, fmt.Sprintf("multiply %d×%d matrices", n, n))
	exec, err := graph.NewExec(b, func(x *graph.Node) *graph.Node { return graph.Dot(x, x).Product() })
	if err != nil {
		return m, err
	}
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
		y, err := exec.Call1(x)
		if err != nil {
			return m, err
		}
		times = append(times, time.Since(t))
		y.FinalizeAll()
	}
	slices.Sort(times)
	s := times[len(times)/2].Seconds()
	return Matmul{N: n, Seconds: s, GFLOPS: 2 * float64(n) * float64(n) * float64(n) / s / 1e9}, nil
}

// multiplyOnce checks that every entry of the product of two matrices of halves is n/4.
func multiplyOnce(exec *graph.Exec, x *tensors.Tensor, n int) error {
	y, err := exec.Call1(x)
	if err != nil {
		return err
	}
	defer y.FinalizeAll()
	flat, err := tensors.CopyFlatData[float32](y)
	if err != nil {
		return err
	}
	want := float32(n) / 4
	for i, v := range flat {
		if v != want {
			return fmt.Errorf("wrong product of %d×%d matrices: entry %d is %g, must be %g", n, n, i, v, want)
		}
	}
	return nil
}
