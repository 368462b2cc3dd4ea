package backend

import (
	"runtime"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestGoDoesNotDeadlock: the default configuration of the pure-Go backend does on this graph, with
// many independent products that are large enough to be cut up, on two cores. It would never
// answer.
func TestGoDoesNotDeadlock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2} {
		runtime.GOMAXPROCS(procs)
		b := must.Get(Open(t.Context(), Options{Name: Go}))(t)
		exec := graph.MustNewExec(b, func(x *graph.Node) *graph.Node {
			sum := graph.ZerosLike(x)
			for i := range 16 {
				sum = graph.Add(sum, graph.Dot(graph.AddScalar(x, float64(i)), x).Product())
			}
			return graph.ReduceAllSum(sum)
		})
		for range 3 {
			must.Get(exec.Call1(tensors.FromScalarAndDimensions(float32(0.5), 256, 256)))(t)
		}
		exec.Finalize()
		must.Do(t, b.Close())
	}
}
