package pcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
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
			refused(t, err, c.want)
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
	refused(t, err, "Options.Trace panicked: no ink")
	for want, state := range map[string]func() (json.RawMessage, error){
		"method avggrad panicked: no state": func() (json.RawMessage, error) { panic("no state") },
		"returned what is no JSON":          func() (json.RawMessage, error) { return json.RawMessage("{"), nil },
	} {
		l := smallLearner(t, b, "", Options{Method: saves{newMethod(t, "avggrad", nil), state}})
		refused(t, l.Save(filepath.Join(t.TempDir(), "x.pcl")), want)
	}
}

// TestAfterClose: every call says that the learner, or the predictor, is closed.
func TestAfterClose(t *testing.T) {
	l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, "avggrad", nil), Options{})
	p := must[*Predictor](t)(l.Snapshot())
	p.Close()
	_, err := p.PredictTask(1, make([]float32, 64))
	if refused(t, err, "the predictor is closed"); !errors.Is(err, ErrClosed) {
		t.Errorf("%v is no ErrClosed", err)
	}
	l.Close()
	for name, err := range map[string]error{"wait": l.Wait(t.Context()), "pause": l.Pause(1), "resume": l.Resume(1)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDescentsThatCannotBe are refused.
func TestDescentsThatCannotBe(t *testing.T) {
	inLab(t, pcltest.Backend(t, backend.Go), Options{}, func(l *Learner, _ rehearsal.ReplayLab) {
		lab := predicting{lab{l}}
		two := stored(lab)[:2]
		if err := lab.Restart(); err != nil {
			t.Fatal(err)
		}
		for want, shares := range map[string][]float64{"3 shares of 2": {1, 1, 1}, "the share -1": {-1, 2}, "the share NaN": {math.NaN(), 1}, "all 0": {0, 0}} {
			refused(t, lab.Descend(two, shares, rehearsal.SGD{LR: 1}), want)
		}
		refused(t, lab.Descend(two, nil, rehearsal.SGD{LR: math.NaN()}), "LR NaN")
		if got := lab.Candidates(99); got != nil {
			t.Errorf("candidates of a task that there is not: %v", got)
		}
	})
}

// TestWeightsBeyondFloat32: weights whose sum float32 cannot hold would make every share of a batch 0.
func TestWeightsBeyondFloat32(t *testing.T) {
	refused(t, checkWeights([]float32{1, 3e38, 2, 3e38}, 2, 2), "float32 does not hold")
}
