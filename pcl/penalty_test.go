package pcl

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// still is a method with a penalty that does nothing.
type still struct{ method.Method }

func (still) Penalise(rehearsal.PenaltyContext) (float64, []float32, error)         { return 0, nil, nil }
func (still) AfterUpdate(rehearsal.PenaltyContext, func() ([]float32, error)) error { return nil }
func (still) AfterReplace(rehearsal.PenaltyContext) error                           { return nil }
func (still) Samples() int                                                          { return 0 }
func (still) Consolidate(rehearsal.PenaltyContext, int, []memory.Item) error        { return nil }

// pulling is a penalty ½k‖θ−a‖² with the parameters a of its first call, and a note of what it was
// asked.
type pulling struct {
	still
	k      float64
	anchor []float32
	called int
	moves  [][]float32 // g_cur
}

func (p *pulling) Penalise(ctx rehearsal.PenaltyContext) (value float64, gradient []float32, err error) {
	theta, err := ctx.Parameters()
	if err != nil {
		return 0, nil, err
	}
	p.called++
	if p.anchor == nil {
		p.anchor = make([]float32, len(theta))
		for i := range theta {
			p.anchor[i] = theta[i] + 1
		}
	}
	for i, x := range theta {
		away := float64(x) - float64(p.anchor[i])
		value, gradient = value+p.k*away*away/2, append(gradient, float32(p.k*away))
	}
	return value, gradient, nil
}

func (p *pulling) AfterUpdate(_ rehearsal.PenaltyContext, current func() ([]float32, error)) error {
	g, err := current()
	p.moves = append(p.moves, slices.Clone(g))
	return err
}

// TestPenaltyRow: a penalty is a row that the rule sees, with its value, its products and its
// weight, and the step goes along it; in every mode, with and without a memory. The running
// statistics do not see it.
func TestPenaltyRow(t *testing.T) {
	m := must.Get(model.NewMLP(64, []int{16, 8}, 6))(t)
	b := pcltest.Backend(t, backend.Go)
	for _, increment := range []string{"task", "class"} {
		t.Run(increment, func(t *testing.T) {
			penaltyRow(t, b, m, increment)
		})
	}
}

// TestPenaltyAndStatistics: a network that normalises batches does not count the row of a penalty
// among them, whether rows are read in place or once from the device.
func TestPenaltyAndStatistics(t *testing.T) {
	net := normalised(t)
	for name, b := range map[string]*backend.Backend{
		"in place": pcltest.Backend(t, backend.Go), "once": pcltest.Separate(t),
	} {
		t.Run(name, func(t *testing.T) {
			statistics := func(m method.Method) []float32 {
				l := smallLearner(t, b, "", Options{Method: m, Model: net, Increment: "class"})
				attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
				steps(t, l, 1)
				return must.Get(l.Statistics())(t)
			}
			without := statistics(newMethod(t, "mgda", nil))
			with := statistics(&pulling{still: still{newMethod(t, "mgda", nil)}})
			if len(without) == 0 || !slices.Equal(with, without) {
				t.Error("the running statistics differ from those of a step without a penalty")
			}
		})
	}
}

func penaltyRow(t *testing.T, b *backend.Backend, m model.Model, increment string) {
	const k, rate = 0.01, 0.1
	p := &pulling{still: still{newMethod(t, "mgda", nil)}, k: k}
	l := trained(t, b, p, Options{Model: m, Increment: increment, Optimizer: optim.SGD{LR: rate}})
	// of the memory, all of which fits into a batch, and task 2
	theta, rows := must.Get(l.network.parameters())(t), gradients(t, l)
	r := must.Get(l.Step())(t)
	n, i := len(r.IDs), slices.Index(r.IDs, rehearsal.PenaltyID)
	if n != 3 || i < 0 {
		t.Fatalf("the step has rows %v", r.IDs)
	}
	shared := l.network.programs.Shared
	value, square := 0.0, 0.0
	for q := range shared {
		away := float64(theta[q] - p.anchor[q])
		value, square = value+k*away*away/2, square+k*away*k*away
	}
	if math.Abs(r.Losses[i]-value) > 1e-5*value || math.Abs(r.Gram[i*n+i]-square) > 1e-5*square {
		t.Errorf("%s: value %g and squared length %g, want %g and %g",
			increment, r.Losses[i], r.Gram[i*n+i], value, square)
	}
	after := must.Get(l.network.parameters())(t)
	for q := range after {
		want := float64(theta[q])
		if q < shared {
			want -= rate * r.Weights[i] * k * float64(theta[q]-p.anchor[q])
		}
		for row, id := range []int{method.MemoryID, 2} {
			w := 1.0
			if q < shared {
				w = r.Weights[slices.Index(r.IDs, id)]
			}
			want -= rate * w * float64(rows[row][q])
		}
		if math.Abs(float64(after[q])-want) > 1e-5 {
			t.Fatalf("%s: parameter %d of %d is %g, want %g", increment, q, shared, after[q], want)
		}
	}
}

// TestPenaltyWithoutMemory: the penalty takes part alone, under its own id, and editing and a
// second update go on.
func TestPenaltyWithoutMemory(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	p := &pulling{still: still{newMethod(t, "avggrad", nil)}, k: 0.01}
	l := trained(t, b, p, Options{Memory: memory.Config{Policy: "per_class"}, ExtraUpdate: true,
		Trace: func(s *Trace) error {
			for i, id := range s.IDs {
				at := fmt.Sprintf("row %d: ", id)
				pcltest.Equal(t, at+"it has no samples", s.N[i] == 0, id == rehearsal.PenaltyID)
				pcltest.Equal(t, at+"pixels", len(s.X[i]), 8*64)
				pcltest.Equal(t, at+"targets", len(s.Targets[i]), 6*8)
			}
			return nil
		}})
	p.called, p.moves = 0, nil
	r := must.Get(l.Step())(t)
	pcltest.Equal(t, "rows", r.IDs, []int{rehearsal.PenaltyID, 2})
	pcltest.Equal(t, "penalties in two updates", p.called, 2)
	if len(p.moves) != 2 {
		t.Fatalf("%d moves in two updates", len(p.moves))
	}
	if slices.Equal(p.moves[0], p.moves[1]) {
		t.Error("both updates have the same gradient")
	}
}

// TestTaskGradient compares the gradient that information is estimated from with finite differences
// of a sample's cross-entropy, where the memory is trained on stored logits.
func TestTaskGradient(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "avggrad+der-pp+lwf", map[string]any{"beta": 0}), Options{})
	sample := stored(l.context())[:1]
	g := must.Get(l.context().TaskGradient(sample))(t)
	if len(g) != l.network.programs.Shared {
		t.Fatalf("a gradient of %d entries for %d shared parameters", len(g), l.network.programs.Shared)
	}
	theta := must.Get(l.network.parameters())(t)
	at := func(q int, by float32) float64 {
		moved := slices.Clone(theta)
		moved[q] += by
		must.Do(t, l.network.begin(moved))
		must.Do(t, l.context().batches(sample, rehearsal.Loss{}, func(*device.Batch) error {
			return nil
		}))
		return must.Get(l.network.programs.Losses(l.network.now(), l.scratch.one, rehearsal.Loss{}))(t)[0]
	}
	for _, q := range []int{0, 3, 58, 1024 + 3, 1040 + 8*3, 1040 + 8*10 + 1, 1168} { // some units are off for this sample
		const h = 1e-2
		want := (at(q, h) - at(q, -h)) / (2 * h)
		if q == 3 && math.Abs(want) < 1e-2 || math.Abs(float64(g[q])-want) > 1e-3+0.02*math.Abs(want) {
			t.Errorf("parameter %d: gradient %g, by differences %g", q, g[q], want)
		}
	}
}

// TestSIAlongAPath: with plain descent on one task a step lowers the loss by ‖Δθ‖²/γ to first
// order, and each parameter's share of it is (Δθ)²/γ. The importance that is kept of the task is
// the sum of these shares, divided by the square of the whole way plus ξ.
func TestSIAlongAPath(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	const rate, xi = 0.05, 0.01
	m := newMethod(t, "avggrad+si", map[string]any{"xi": xi})
	l := smallLearner(t, b, "", Options{Method: m, Increment: "class", Optimizer: optim.SGD{LR: rate}})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
	start := must.Get(l.network.parameters())(t)
	before, lowered := start, make([]float64, len(start))
	for {
		if _, err := l.Step(); errors.Is(err, ErrNoStream) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		after := must.Get(l.network.parameters())(t)
		for q := range lowered {
			way := float64(after[q]) - float64(before[q])
			lowered[q] += way * way / rate
		}
		before = after
	}
	state := l.method.Stateful
	if state == nil {
		t.Fatal("the method has no state")
	}
	saved := must.Get(state.MarshalState())(t)
	var read struct {
		Parts []struct{ Stiffness, Anchor []byte }
	}
	must.Do(t, json.Unmarshal(saved, &read))
	omega, anchor := make([]float64, len(start)), make([]float32, len(start))
	for _, v := range []struct {
		bits []byte
		into any
	}{{read.Parts[0].Stiffness, omega}, {read.Parts[0].Anchor, anchor}} {
		must.Do(t, second(binary.Decode(v.bits, binary.LittleEndian, v.into)))
	}
	if !slices.Equal(anchor, before) {
		t.Error("the parameters are not held where the task ended")
	}
	for q := range omega {
		way := float64(before[q]) - float64(start[q])
		if want := lowered[q] / (way*way + xi); math.Abs(omega[q]-want) > 1e-3*want+1e-7 {
			t.Fatalf("parameter %d: %g, want %g", q, omega[q], want)
		}
	}
}

// learning notes what it is given of tasks that have ended.
type learning struct {
	still
	given [][]memory.Item
}

func (l *learning) Unwrap() method.Method { return l.Method }

func (l *learning) Samples() int { return 5 }

func (l *learning) Consolidate(_ rehearsal.PenaltyContext, _ int, samples []memory.Item) error {
	l.given = append(l.given, samples)
	return nil
}

// TestConsolidatedSamples: whatever the memory takes of a task, a method learns from as many
// samples of each class as it asks for.
func TestConsolidatedSamples(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(2, 40, 4)
	for _, budget := range []int{0, 2, 30} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			for _, name := range []string{"avggrad", "avggrad+herding", "avggrad+gss"} {
				m := &learning{still: still{newMethod(t, name, nil)}}
				l := smallLearner(t, b, "", Options{Method: m, Memory: memory.Config{Policy: "per_class", Budget: budget}})
				attach(t, l, blobTask(t, d, 1, 0, 1))
				playOut(t, l)
				of := map[int]int{}
				for _, it := range m.given[0] {
					of[it.Class]++
				}
				at := fmt.Sprintf("%s, budget %d: ", name, budget)
				pcltest.Equal(t, at+"calls", len(m.given), 1)
				pcltest.Equal(t, at+"samples of each class", of, map[int]int{0: 5, 1: 5})
			}
		})
	}
}

// TestPenaltyOfGivenParameters: a penalty does not pull given parameters back to those that there
// were before, and holds them as firmly.
func TestPenaltyOfGivenParameters(t *testing.T) {
	for _, name := range []string{"avggrad+ewc", "avggrad+si"} {
		t.Run(name, func(t *testing.T) {
			l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, name, map[string]any{"rows": "apart"}), Options{})
			must.Get(l.Step())(t) // on the way to a next end
			theta := must.Get(l.Parameters())(t)
			for i := range theta {
				theta[i] += 0.5
			}
			must.Do(t, l.exchange(theta, nil))
			for step := range 2 {
				r := must.Get(l.Step())(t)
				at := slices.Index(r.IDs, rehearsal.PenaltyID)
				if at < 0 || (r.Losses[at] == 0) != (step == 0) {
					t.Errorf("%s, step %d: rows %v with the losses %v; want no penalty in the first, and one later",
						name, step, r.IDs, r.Losses)
				}
			}
		})
	}
}

// TestInformationOfLabels: the information of EWC comes from the right labels, whatever targets the
// loss of the tasks has. iCaRL's loss has only the right labels until a first task has ended, so
// that its gradient is then the one to compare with.
func TestInformationOfLabels(t *testing.T) {
	l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, "avggrad+icarl+ewc", nil), Options{Increment: "class"})
	steps(t, l, 2)
	p := l.method.Penalty
	_, pull, err := p.Penalise(l.context())
	must.Do(t, err)
	if dot(pull, pull) < 1e-6 {
		t.Errorf("after two steps of the second task the penalty has a gradient of length² %g", dot(pull, pull))
	}
	samples := stored(l.context())
	now := must.Get(l.context().TaskGradient(samples))(t)
	program.Free(l.network.auxiliary.remembered)
	l.network.auxiliary.remembered = nil // as before a first task has ended
	if want := must.Get(l.context().Gradient(rehearsal.Current, samples))(t); !slices.Equal(now, want) ||
		dot(now, now) == 0 {
		t.Errorf("the gradient of length² %g is not that of the labels, of length² %g", dot(now, now), dot(want, want))
	}
}

// TestCandidatesForTheMemory: samples collected for EWC are not candidates for a memory that fills
// itself, so that class means do not depend on a penalty before a task has ended.
func TestCandidatesForTheMemory(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, store := range []string{"greedy", "gss"} {
		var means []*rehearsal.Means
		for _, penalty := range []string{"", "+ewc"} {
			l := smallLearner(t, b, "avggrad+"+store+"+ncm"+penalty, Options{Increment: "class"})
			attach(t, l, blobTask(t, pcltest.Blobs(4, 40, 4), 1, 0, 1))
			steps(t, l, 3)
			p := must.Get(l.Snapshot())(t)
			defer p.Close()
			m, _ := rehearsal.MeansOf(p.rule)
			means = append(means, m)
		}
		for i, mean := range means[0].Values {
			if !slices.Equal(means[1].Values[i], mean) {
				t.Errorf("%s: class %d has the mean %v, with a penalty %v", store, i, mean, means[1].Values[i])
			}
		}
	}
}
