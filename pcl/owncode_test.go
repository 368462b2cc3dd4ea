package pcl

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// odd is an optimiser that does not keep its promises.
type odd struct {
	optim.Adam
	extra   int // vectors that Step returns beside those that it should
	scalars func(t int, of []float32) []float32
}

func (o odd) Key() string { return fmt.Sprintf("odd%d", o.extra) }

func (o odd) Scalars(t int) []float32 {
	if o.scalars == nil {
		return o.Adam.Scalars(t)
	}
	return o.scalars(t, o.Adam.Scalars(t))
}

func (o odd) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	next := o.Adam.Step(state, d, scalars)
	if o.extra < 0 {
		return next[:len(next)+o.extra]
	}
	return append(next, next[:o.extra]...)
}

// TestOptimisersThatDoNotFit are named, with what is wrong.
func TestOptimisersThatDoNotFit(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	adam := optim.Adam{LR: 0.01}
	for name, c := range map[string]struct {
		o    odd
		want string
	}{
		"too few vectors":  {odd{Adam: adam, extra: -1}, "optimiser odd-1: Step returned 2 vectors; want 3"},
		"too many vectors": {odd{Adam: adam, extra: 1}, "optimiser odd1: Step returned 4 vectors; want 3"},
		"more numbers": {odd{Adam: adam, scalars: func(t int, of []float32) []float32 {
			return append(of, make([]float32, t-1)...)
		}}, "optimiser odd0: Scalars(2)"},
		"no number": {odd{Adam: adam, scalars: func(t int, of []float32) []float32 {
			if t > 1 {
				of[0] = float32(math.NaN())
			}
			return of
		}}, "optimiser odd0: Scalars(2)"},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, b, "avggrad", Options{Optimizer: c.o})
			attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
			_, err := l.Step()
			if err == nil {
				_, err = l.Step()
			}
			refused(t, err)
		})
	}
}

// saves is a method whose state cannot be saved.
type saves struct {
	method.Method
	state func() (json.RawMessage, error)
}

func (s saves) MarshalState() (json.RawMessage, error) { return s.state() }
func (saves) UnmarshalState(json.RawMessage) error     { return nil }
func (saves) End(int)                                  {}

// TestWhoIsToBlame: errors name whose code failed.
func TestWhoIsToBlame(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := smallLearner(t, b, "avggrad", Options{Trace: func(*Trace) error { panic("no ink") }})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
	_, err := l.Step()
	refused(t, err)
	for _, state := range []func() (json.RawMessage, error){
		func() (json.RawMessage, error) { panic("no state") },
		func() (json.RawMessage, error) { return json.RawMessage("{"), nil },
	} {
		l := smallLearner(t, b, "", Options{Method: saves{newMethod(t, "avggrad", nil), state}})
		refused(t, l.Save(filepath.Join(t.TempDir(), "x.pcl")))
	}
}
