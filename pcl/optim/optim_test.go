package optim_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// sixSteps descends from (0.5, −1, 2) along directions that depend on the step only.
func sixSteps(t *testing.T, b *backend.Backend, o optim.Optimizer) []float64 {
	return descend(t, b, o, []float32{.5, -1, 2}, func(step int) []float32 {
		at, sign := float32(step), float32(1-2*(step%2))
		return []float32{.1 * at, -.3 + .05*at, .7 * sign}
	})
}

// descend makes six steps from theta.
func descend(t *testing.T, b *backend.Backend, o optim.Optimizer, theta []float32,
	d func(step int) []float32) []float64 {
	t.Helper()
	if err := optim.Check(o); err != nil {
		t.Fatal(err)
	}
	vector := shapes.Make(dtypes.Float32, len(theta))
	in := []program.Input{{Name: "d", Shape: vector},
		{Name: "scalars", Shape: shapes.Make(dtypes.Float32, len(o.Scalars(1)))}, {Name: "theta", Shape: vector}}
	for _, name := range o.State() {
		in = append(in, program.Input{Name: name, Shape: vector})
	}
	p, err := program.Compile(b.Backend, new(atomic.Int64), "step", in, func(n []*graph.Node) []*graph.Node {
		return o.Step(n[2:], n[0], n[1])
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	device := func(x ...float32) compute.Buffer { return must.Get(program.ToDevice(b.Backend, x, len(x)))(t) }
	state := []compute.Buffer{device(theta...)}
	for range o.State() {
		state = append(state, device(make([]float32, len(theta))...))
	}
	for step := range 6 {
		call := append([]compute.Buffer{device(d(step + 1)...), device(o.Scalars(step + 1)...)}, state...)
		state = must.Get(p.Call(call))(t)
		program.Free(call...)
	}
	defer program.Free(state...)
	out := make([]float64, len(theta))
	for i, x := range slices.Clone(must.Get(program.Read[float32](state[0], len(theta)))(t)) {
		out[i] = float64(x)
	}
	return out
}

// TestAgainstPyTorch compares six steps with those of PyTorch 2.15 in float64.
func TestAgainstPyTorch(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, c := range []struct {
			config optim.Config
			want   []float64
		}{
			{optim.Config{Name: "sgd"}, []float64{0.29, -0.925, 2.0}},
			{optim.Config{Name: "sgd", Momentum: .9}, []float64{0.0046721, -0.71277325, 2.1553643}},
			{optim.Config{Name: "sgd", Momentum: .9, Nesterov: true, WeightDecay: .01},
				[]float64{-0.164355798266, -0.646969836466, 2.09378794611}},
			{optim.Config{Name: "sgd", WeightDecay: .01}, []float64{0.287357140217, -0.91928955536, 1.98782037954}},
			{optim.Config{Name: "adam"}, []float64{-0.0827260289005, -0.456470333496, 2.13823134562}},
			{optim.Config{Name: "adamw", WeightDecay: .05, Epsilon: 1e-8},
				[]float64{-0.0902775239002, -0.434051883578, 2.07605485047}},
		} {
			c.config.LR = .1
			o, err := c.config.New()
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range sixSteps(t, b, o) {
				if math.Abs(got-c.want[i]) > 3e-6 {
					t.Errorf("%+v: entry %d is %.9g, PyTorch has %.9g", c.config, i, got, c.want[i])
				}
			}
		}
	})
}

// TestSchedule: the factors of a schedule, and that a step is scaled by them.
func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		s    optim.Schedule
		want []float64 // of steps 1, 2, …
	}{
		{optim.Schedule{}, []float64{1, 1, 1}},
		{optim.Schedule{Warmup: 3}, []float64{.25, .5, .75, 1, 1}},
		{optim.Schedule{Kind: "linear", Steps: 4, Floor: .2}, []float64{1, .8, .6, .4, .2, .2}},
		{optim.Schedule{Kind: "cosine", Steps: 4, Floor: .5},
			[]float64{1, .5 + .25*(1+math.Sqrt(.5)), .75, .5 + .25*(1-math.Sqrt(.5)), 1}},
		{optim.Schedule{Kind: "step", Steps: 2, Factor: .5, Floor: .2, Warmup: 1}, []float64{.5, 1, 1, .5, .5, .25, .25, .2}},
	} {
		if err := optim.Check(optim.Scheduled{Optimizer: optim.SGD{LR: 1}, Schedule: c.s}); err != nil {
			t.Errorf("%+v: %v", c.s, err)
		}
		for i, want := range c.want {
			o := optim.Scheduled{Optimizer: optim.SGD{LR: 1}, Schedule: c.s}
			if got := float64(o.Scalars(i + 1)[0]); math.Abs(got-want) > 1e-7 {
				t.Errorf("%+v: the factor of step %d is %g, want %g", c.s, i+1, got, want)
			}
		}
	}
	o := optim.Scheduled{Optimizer: optim.SGD{LR: .1}, Schedule: optim.Schedule{Kind: "step", Steps: 3, Factor: 1e-9}}
	// After three steps next to nothing is added: directions 0.1·(1+2+3), −0.3·3+0.05·6,
	// −0.7+0.7−0.7.
	for i, want := range []float64{.5 - .06, -1 + .06, 2 + .07} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if got := sixSteps(t, pcltest.Backend(t, backend.Go), o)[i]; math.Abs(got-want) > 1e-6 {
				t.Errorf("entry %d is %g, want %g", i, got, want)
			}
		})
	}
}

// TestUnknownNames: the documentation of the name has every name that an error offers.
func TestUnknownNames(t *testing.T) {
	_, err := optim.Config{Name: "none", LR: 1}.New()
	_, names, _ := strings.Cut(err.Error(), "is none of ")
	name, _ := reflect.TypeFor[optim.Config]().FieldByName("Name")
	for one := range strings.SplitSeq(names, ", ") {
		t.Run(one, func(t *testing.T) {
			if doc := name.Tag.Get("doc"); !slices.Contains(strings.Fields(strings.ReplaceAll(doc, ",", "")), one) {
				t.Errorf("Config.Name is documented as %q", doc)
			}
			if _, err := (optim.Config{Name: one, LR: 1}).New(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []optim.Config{
		{Name: "no such optimiser", LR: 1},
		{Name: "sgd", LR: 1, Beta1: .5},
		{Name: "adam", LR: 1, WeightDecay: .5},
		{Name: "adamw", LR: math.NaN()},
		{Name: "adamw", LR: 1, WeightDecay: -1},
		{Name: "sgd", LR: 1, Momentum: 1},
		{Name: "sgd", LR: 1, Nesterov: true},
		{Name: "sgd", LR: 1, Schedule: optim.Schedule{Kind: "spiral"}},
		{Name: "sgd", LR: 1, Schedule: optim.Schedule{Kind: "cosine"}},
		{Name: "sgd", LR: 1, Schedule: optim.Schedule{Kind: "step", Steps: 5}},
		{Name: "sgd", LR: 1, Schedule: optim.Schedule{Kind: "linear", Steps: 5, Floor: 2}},
		{Name: "sgd", LR: 1, Schedule: optim.Schedule{Steps: 5}},
		{Name: "sgd", LR: 1, Schedule: optim.Schedule{Warmup: -1}},
		{Name: "adam", LR: 1, Beta2: 1},
	} {
		t.Run(c.Name, func(t *testing.T) {
			if _, err := c.New(); err == nil {
				t.Errorf("%+v is not refused", c)
			}
		})
	}
}

// TestScheduledNothing: a schedule without an optimiser is refused.
func TestScheduledNothing(t *testing.T) {
	expect.Refusal(t, "Check", optim.Check(optim.Scheduled{}), "schedule: it has no optimiser: set Scheduled.Optimizer")
}

// TestBeyondFloat32: settings that are positive numbers, but 0 or infinite in float32, are refused.
// Adam's ε of 1e-50 made a NaN of each parameter whose derivative is 0.
func TestBeyondFloat32(t *testing.T) {
	refused := func(c optim.Config) error {
		if c.LR == 0 {
			c.LR = 1
		}
		_, err := c.New()
		return err
	}
	for _, name := range []string{"adam", "adamw", "sgd"} {
		t.Run(name, func(t *testing.T) {
			for _, lr := range []float64{1e-50, 1e-40, 1e39, math.Inf(1)} {
				expect.Refusal(t, fmt.Sprint("the rate ", lr), refused(optim.Config{Name: name, LR: lr}),
					"is out of range; want a number above 0 that float32 holds")
			}
		})
	}
	for _, c := range []optim.Config{{Name: "adam"}, {Name: "adamw"}} {
		t.Run(c.Name, func(t *testing.T) {
			for _, c.Epsilon = range []float64{1e-50, 1e-40, 1e39, math.NaN()} {
				expect.Refusal(t, fmt.Sprint("epsilon ", c.Epsilon), refused(c),
					"is out of range; want a number above 0 that float32 holds")
			}
		})
	}
	for _, c := range []optim.Config{{Name: "sgd"}, {Name: "adamw"}} {
		t.Run(c.Name, func(t *testing.T) {
			if c.WeightDecay = 1e39; refused(c) == nil {
				t.Errorf("weight decay %g is not refused", c.WeightDecay)
			}
		})
	}
}

func ExampleScheduled() {
	o := optim.Scheduled{
		Optimizer: optim.Adam{LR: 0.001, WeightDecay: 0.01},
		Schedule:  optim.Schedule{Kind: "cosine", Steps: 1000, Floor: 0.1, Warmup: 100},
	}
	for _, t := range []int{1, 101, 601, 1100, 1101} {
		fmt.Printf("step %d: %.6f\n", t, o.Scalars(t)[0])
	}
	// Output:
	// step 1: 0.000010
	// step 101: 0.001000
	// step 601: 0.000550
	// step 1100: 0.000100
	// step 1101: 0.001000
}

// constant has scalars that it gives again and again.
type constant struct {
	optim.SGD
	scalars []float32
}

func (c constant) Scalars(int) []float32 { return c.scalars }

// TestScheduleLeavesScalars: a schedule does not change what its optimiser returns.
func TestScheduleLeavesScalars(t *testing.T) {
	o := optim.Scheduled{Optimizer: constant{scalars: []float32{8}},
		Schedule: optim.Schedule{Kind: "step", Steps: 1, Factor: 0.5}}
	for step, want := range []float32{8, 4, 2} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if got := o.Scalars(step + 1)[0]; got != want {
				t.Errorf("step %d has the step size %g, want %g", step+1, got, want)
			}
		})
	}
}
