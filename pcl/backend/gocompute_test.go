package backend

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// The default configuration of the pure-Go backend deadlocks on this graph, with many independent
// products that are large enough to be cut up, on two cores.
func TestGoDoesNotDeadlock(t *testing.T) {
	for _, procs := range []int{1, 2} {
		done := make(chan error, 1)
		go func() { done <- wideGraph(procs) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("no answer in 60 s with GOMAXPROCS=%d", procs)
		}
	}
}

// wideGraph sums 16 products of matrices, three times over.
func wideGraph(procs int) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	b, err := Open(context.Background(), Options{Name: Go})
	if err != nil {
		return err
	}
	defer b.Close()
	exec, err := graph.NewExec(b, func(x *graph.Node) *graph.Node {
		sum := graph.ZerosLike(x)
		for i := range 16 {
			sum = graph.Add(sum, graph.Dot(graph.AddScalar(x, float64(i)), x).Product())
		}
		return graph.ReduceAllSum(sum)
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	for range 3 {
		x := tensors.FromScalarAndDimensions(float32(0.5), 256, 256)
		if _, err := exec.Call1(x); err != nil {
			return err
		}
	}
	return nil
}
