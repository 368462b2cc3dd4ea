package pcl

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// replayer calls a function where a method chooses what is replayed.
type replayer struct {
	method.Method
	choose func(ctx rehearsal.ReplayContext) ([]rehearsal.Replay, error)
}

func (r replayer) Replays(ctx rehearsal.ReplayContext) ([]rehearsal.Replay, error) {
	return r.choose(ctx)
}
func (r replayer) Shares(*memory.Store, []int, int) []float64 { return nil }

// half has only one method of a role.
type half struct{ method.Method }

func (half) Replays(rehearsal.ReplayContext) ([]rehearsal.Replay, error) { return nil, nil }

// TestHalfOfARole: a method that would never be asked for what it can do is refused.
func TestHalfOfARole(t *testing.T) {
	refused(t,
		second(New(t.Context(), completed(t, pcltest.Backend(t, backend.Go), "",
			Options{Method: half{newMethod(t, "avggrad", nil)}}))), "not all methods of rehearsal.Replayer")
}

// trained has two tasks of which the first is over and in the memory.
func trained(t *testing.T, b *backend.Backend, m method.Method, o Options) *Learner {
	t.Helper()
	o.Method = m
	d := pcltest.Blobs(4, 24, 5)
	l := smallLearner(t, b, "", o)
	attach(t, l, blobTask(t, d, 1, 0, 1))
	steps(t, l, 6)
	attach(t, l, blobTask(t, d, 2, 2, 3))
	return l
}

// inStep runs f where a method would choose what is replayed, in the middle of a step.
func inStep(t *testing.T, b *backend.Backend, o Options, f func(l *Learner, ctx rehearsal.ReplayContext)) {
	t.Helper()
	m, called := replayer{Method: newMethod(t, "avggrad", nil)}, false
	var l *Learner
	m.choose = func(ctx rehearsal.ReplayContext) ([]rehearsal.Replay, error) {
		if ctx.Memory().Len() > 0 {
			called = true
			f(l, ctx)
		}
		return nil, nil
	}
	l = trained(t, b, &m, o)
	must.Get(l.Step())(t)
	if !called {
		t.Fatal("the method was never asked")
	}
}

func stored(ctx rehearsal.Context) (items []memory.Item) {
	for i := range ctx.Memory().Len() {
		items = append(items, ctx.Memory().Item(i))
	}
	return items
}

// steps makes n steps.
func steps(t testing.TB, l *Learner, n int) {
	t.Helper()
	for range n {
		must.Get(l.Step())(t)
	}
}

// TestGradientOfOne: the gradient of one sample does not depend on who else is in the batch, also
// where the network has batch normalisation: that of two samples is the mean of theirs.
func TestGradientOfOne(t *testing.T) {
	inStep(t, pcltest.Backend(t, backend.Go), Options{Model: normalised(t)},
		func(l *Learner, ctx rehearsal.ReplayContext) {
			of := func(items []memory.Item) []float32 { return must.Get(ctx.Gradient(rehearsal.Current, items))(t) }
			items := stored(ctx)[:2]
			both, one, other := of(items), of(items[:1]), of(items[1:])
			for i, g := range both {
				if want := (one[i] + other[i]) / 2; math.Abs(float64(g-want)) > 1e-5 {
					t.Fatalf("entry %d is %g, and the mean of both samples' %g", i, g, want)
				}
			}
			if dot(one, one) == 0 {
				t.Error("the gradient of one sample is 0")
			}
		})
}

// TestPixelGradients compares them with finite differences of the losses.
func TestPixelGradients(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	inStep(t, b, Options{}, func(l *Learner, ctx rehearsal.ReplayContext) {
		items := stored(ctx)
		g := must.Get(ctx.PixelGradients(rehearsal.Current, items))(t)
		const h = 1e-2
		for _, p := range []int{0, 17, 40, 63} {
			shifted := func(by float32) []float64 {
				var moved []memory.Item
				for _, it := range items {
					it.Pixels = slices.Clone(it.Pixels)
					it.Pixels[p] += by
					moved = append(moved, it)
				}
				return must.Get(ctx.Losses(rehearsal.Current, moved))(t)
			}
			up, down := shifted(h), shifted(-h)
			for i := range items {
				want := (up[i] - down[i]) / (2 * h)
				if got := float64(g[i][p]); math.Abs(got-want) > 1e-3+0.02*math.Abs(want) {
					t.Errorf("sample %d, pixel %d: gradient %g, by differences %g", i, p, got, want)
				}
			}
		}
	})
}

// TestVirtualStep: Ahead is θ less γ times the mean gradient, the losses of the current batch fall
// along it by about γ‖g‖², and θ stays.
func TestVirtualStep(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	inStep(t, b, Options{Increment: "class"}, func(l *Learner, ctx rehearsal.ReplayContext) {
		batch := runningTask(l, 2).current.Items()
		before := must.Get(l.network.parameters())(t)
		g := must.Get(ctx.Gradient(rehearsal.Current, batch))(t)
		const gamma = 1e-3
		must.Do(t, ctx.VirtualStep(gamma))
		if !slices.Equal(before, must.Get(l.network.parameters())(t)) {
			t.Error("the virtual step moved θ")
		}
		now, ahead := must.Get(ctx.Losses(rehearsal.Current, batch))(t), must.Get(ctx.Losses(rehearsal.Virtual, batch))(t)
		fall, square := 0.0, 0.0
		for i := range now {
			fall += (now[i] - ahead[i]) / float64(len(now))
		}
		for _, x := range g {
			square += float64(x) * float64(x)
		}
		if math.Abs(fall-gamma*square) > 0.05*gamma*square {
			t.Errorf("the loss fell by %g, γ‖g‖² is %g", fall, gamma*square)
		}
	})
}

// TestDetached trains a network on the memory from new parameters: it learns, the run's network
// stays.
func TestDetached(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	inStep(t, b, Options{}, func(l *Learner, _ rehearsal.ReplayContext) {
		ctx := l.context()
		items, before := stored(ctx), must.Get(l.network.parameters())(t)
		must.Do(t, ctx.Reinitialize())
		sum := func() (s float64) {
			for _, x := range must.Get(ctx.Losses(rehearsal.Retrained, items))(t) {
				s += x
			}
			return s
		}
		first := sum()
		for range 40 {
			must.Do(t, ctx.TrainStep(items, nil, rehearsal.SGD{LR: 0.05, Momentum: 0.9, Decay: 1e-6, Clip: 10}))
		}
		if last := sum(); last > 0.2*first {
			t.Errorf("the loss went from %g to %g", first, last)
		}
		if !slices.Equal(before, must.Get(l.network.parameters())(t)) {
			t.Error("training the detached network moved θ")
		}
	})
}

// TestShares: weights 1 and 0 train on the first sample alone; a clip shortens the step to its
// length.
func TestShares(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	inStep(t, b, Options{}, func(l *Learner, _ rehearsal.ReplayContext) {
		ctx := l.context()
		two := stored(ctx)[:2]
		train := func(items []memory.Item, shares []float64, clip float64) []float32 {
			must.Do(t, ctx.Reinitialize())
			start := slices.Clone(must.Get(program.Read[float32](l.network.auxiliary.detached[0], l.network.total()))(t))
			must.Do(t, ctx.TrainStep(items, shares, rehearsal.SGD{LR: 1, Clip: clip}))
			for i, x := range must.Get(program.Read[float32](l.network.auxiliary.detached[0], len(start)))(t) {
				start[i] -= x
			}
			return start
		}
		alone, weighed := train(two[:1], nil, 0), train(two, []float64{1, 0}, 0)
		for i := range alone {
			if math.Abs(float64(alone[i]-weighed[i])) > 1e-6 {
				t.Fatalf("parameter %d moves by %g alone, by %g with shares 1 and 0", i, alone[i], weighed[i])
			}
		}
		short := train(two, nil, 0.01)
		if n := math.Sqrt(dot(short, short)); math.Abs(n-0.01) > 1e-4 {
			t.Errorf("clipped to 0.01, the step has length %g", n)
		}
	})
}

// TestRemembered keeps θ over a save: the teacher's outputs stay.
func TestRemembered(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	inStep(t, b, Options{}, func(l *Learner, ctx rehearsal.ReplayContext) {
		items := stored(ctx)
		must.Do(t, ctx.Remember())
		old := must.Get(ctx.Losses(rehearsal.Remembered, items))(t)
		must.Do(t, ctx.Update())
		f := must.Get(l.snapshot())(t)
		if len(f.Arrays["remembered"]) != l.network.total() || slices.Equal(f.Arrays["remembered"], f.Arrays["theta"]) {
			t.Error("the checkpoint does not hold the remembered parameters")
		}
		if got := must.Get(ctx.Losses(rehearsal.Remembered, items))(t); !slices.Equal(got, old) {
			t.Error("what is remembered moved with θ")
		}
		if got := must.Get(ctx.Losses(rehearsal.Current, items))(t); slices.Equal(got, old) {
			t.Error("Update did not move θ")
		}
	})
}

// direct gives the mean gradient as a direction of its own.
type direct struct {
	method.Method
	cross, gram []float64
	rows        [][]float64
}

func (d *direct) Needs() method.Needs {
	return method.Needs{Gram: true, Rows: true, Cross: true, Direction: true}
}

func (d *direct) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	out, err := d.Method.Weights(s, w)
	out.Direction = make([]float64, len(s.Rows[0]))
	for i, row := range s.Rows {
		for p, x := range row {
			out.Direction[p] += w[i] * x
		}
	}
	d.cross, d.gram, d.rows = s.Cross, s.Gram, s.Rows
	return out, err
}

// TestDirection: a direction that is the weighted sum of the rows moves θ as the weights would,
// private heads included; rows, Gram matrix and halves fit together.
func TestDirection(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	rule := &direct{Method: newMethod(t, "avggrad", nil)}
	l, plain := trained(t, b, rule, Options{}), trained(t, b, newMethod(t, "avggrad", nil), Options{})
	for range 3 {
		r := must.Get(l.Step())(t)
		must.Get(plain.Step())(t)
		k := len(r.IDs)
		for i := range k {
			for j := range k {
				v := 0.0
				for p := range rule.rows[i] {
					v += rule.rows[i][p] * rule.rows[j][p]
				}
				if math.Abs(v-rule.gram[i*k+j]) > 1e-6*(1+math.Abs(v)) {
					t.Errorf("rows %d and %d: product %g, the Gram matrix says %g", i, j, v, rule.gram[i*k+j])
				}
			}
		}
		// Halves of equal size: ‖J‖² = (‖a‖² + 2a·b + ‖b‖²)/4 ≥ a·b.
		if i := k - 1; rule.cross[i*k+i] > rule.gram[i*k+i]*(1+1e-6) {
			t.Errorf("halves have the product %g, the whole %g", rule.cross[i*k+i], rule.gram[i*k+i])
		}
	}
	a, c := must.Get(l.network.parameters())(t), must.Get(plain.Parameters())(t)
	for i := range a {
		if math.Abs(float64(a[i]-c[i])) > 1e-5 {
			t.Fatalf("parameter %d is %g, with weights %g", i, a[i], c[i])
		}
	}
}

// TestChosenRows: rows without samples are left out, wherever they are; rows that cannot be
// replayed are errors.
func TestChosenRows(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []rehearsal.Replay
		ids  []int  // of the step
		want string // "" where it is made
	}{
		{"some without samples", []rehearsal.Replay{
			{ID: -1}, {ID: -2, Indices: []int{0, 1}}, {ID: -3}, {ID: -4, Indices: []int{2}},
		}, []int{-2, -4, 2}, ""},
		{"all without samples", []rehearsal.Replay{{ID: 0}, {ID: -1}}, []int{2}, ""},
		{"more than a batch", []rehearsal.Replay{{Indices: make([]int, 9)}}, nil, "returned 9 indices"},
		{"no such sample", []rehearsal.Replay{{ID: -1, Indices: []int{0, 99}}}, nil, "returned index 99"},
		{"a task's row", []rehearsal.Replay{{ID: 2, Indices: []int{0}}}, nil, "samples replayed as row 2"},
		{"the penalty's row", []rehearsal.Replay{{ID: rehearsal.PenaltyID, Indices: []int{0}}}, nil,
			"samples replayed as row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := replayer{newMethod(t, "avggrad", nil), func(ctx rehearsal.ReplayContext) ([]rehearsal.Replay, error) {
				if ctx.Memory().Len() == 0 {
					return nil, nil
				}
				return c.rows, nil
			}}
			r, err := trained(t, pcltest.Backend(t, backend.Go), &m, Options{}).Step()
			if c.want != "" {
				refused(t, err, c.want)
				return
			}
			must.Do(t, err)
			pcltest.Equal(t, "rows", r.IDs, c.ids)
		})
	}
}

// TestEvaluatingChangesNothing: a network that is trained when the run is evaluated has running
// statistics of its own.
func TestEvaluatingChangesNothing(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 24, 5)
	var ends [2]*Learner
	for i := range ends {
		m := newMethod(t, "avggrad+gdumb+der-pp", map[string]any{"gdumb.passes": 1, "cutmix": 0})
		l := smallLearner(t, b, "", Options{Method: m, Model: normalised(t), Increment: "class"})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		attach(t, l, blobTask(t, d, 2, 2, 3))
		steps(t, l, 5)
		if i == 1 {
			must.Get(l.Evaluate(1))(t)
		}
		steps(t, l, 1)
		ends[i] = l
	}
	same(t, ends[1], ends[0])
	if a, b := must.Get(ends[0].Statistics())(t), must.Get(ends[1].Statistics())(t); !slices.Equal(a, b) {
		t.Error("the running statistics differ")
	}
}
