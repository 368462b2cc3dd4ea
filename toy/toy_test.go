package toy

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/method"
)

func newMethod(t testing.TB, name string, params map[string]any) method.Method {
	t.Helper()
	m, err := method.New(name, params)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func run(t testing.TB, name string, params map[string]any, s Settings) *Trace {
	t.Helper()
	trace, err := Run(newMethod(t, name, params), s)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const h = 1e-5
	for range 1000 {
		x, y := -3+6*r.Float64(), -3+6*r.Float64()
		for name, f := range map[string]struct {
			value func(x, y float64) float64
			grad  func(x, y float64) (float64, float64)
		}{"f1": {F1, Grad1}, "f2": {F2, Grad2}} {
			dx, dy := f.grad(x, y)
			nx := (f.value(x+h, y) - f.value(x-h, y)) / (2 * h)
			ny := (f.value(x, y+h) - f.value(x, y-h)) / (2 * h)
			if tol := 1e-6 * (1 + math.Hypot(dx, dy)); math.Hypot(dx-nx, dy-ny) > tol {
				t.Errorf("∇%s(%.4f, %.4f) = (%v, %v), differences give (%v, %v)", name, x, y, dx, dy, nx, ny)
			}
		}
	}
}

// row is a printed line of the oracle: x, y, f1, f2 to 4 digits, ‖∇f‖ and the weights to 3.
type row struct {
	step             int
	x, y, f1, f2     float64
	norm1, norm2     float64
	weight1, weight2 float64
}

// Until the arrival every method is plain descent on f1.
var before = []row{
	{0, 3, 3, 4.9948, 3.8683, 59.042, 3.774, 1, 0},
	{499, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, 1, 0},
}

// The numbers of oracles.json, F_toy.
var figure2 = []struct {
	name   string
	method string
	params map[string]any
	rows   []row
	end    [4]float64
}{
	{"avg", "avggrad", nil, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, .5, .5},
		{999, 2.9784, 3.0842, 2.3027, 4.1944, 4.108, 4.331, .5, .5},
		{1499, 2.971, 3.0834, 2.2995, 4.1868, 4.259, 4.32, .5, .5},
	}, [4]float64{2.971, 3.0834, 2.2995, 4.1868}},
	{"sum", "sum", nil, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, 1, 1},
		{999, 2.971, 3.0834, 2.2995, 4.1868, 4.259, 4.32, 1, 1},
		{1499, 2.9559, 3.0825, 2.2906, 4.1728, 4.237, 4.302, 1, 1},
	}, [4]float64{2.9559, 3.0825, 2.2906, 4.1727}},
	{"mgda", "mgda", nil, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, .984, .016},
		{999, 2.9792, 3.0908, 2.2901, 4.2235, .603, 4.381, 1, 0},
		{1499, 2.9731, 3.0905, 2.2864, 4.2184, .604, 4.374, 1, 0},
	}, [4]float64{2.9731, 3.0905, 2.2864, 4.2184}},
	{"gs", "emgd-gs", nil, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, 1.968, .032},
		{999, 2.9732, 3.0905, 2.2864, 4.2184, .604, 4.374, 2, 0},
		{1499, 2.9611, 3.0899, 2.2791, 4.2078, .605, 4.36, 2, 0},
	}, [4]float64{2.9611, 3.0899, 2.2791, 4.2078}},
	{"gmc", "emgd-gmc", nil, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, 2.891, .111},
		{999, 2.9682, 3.0888, 2.284, 4.2079, 1.052, 4.358, 2.086, .44},
		{1499, 2.9519, 3.0873, 2.2747, 4.1906, 1.345, 4.334, 1.848, .534},
	}, [4]float64{2.9519, 3.0873, 2.2747, 4.1906}},
	{"gmc τ=1", "emgd-gmc", map[string]any{"tau": 1.0}, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, 1.036, .999},
		{999, 2.9672, 3.0853, 2.2899, 4.1922, 3.013, 4.331, 1.28, .926},
		{1499, 2.9515, 3.0835, 2.2832, 4.1738, 3.502, 4.305, 1.131, .942},
	}, [4]float64{2.9514, 3.0835, 2.2832, 4.1738}},
	{"gmc release floor", "emgd-gmc", map[string]any{"floor": "release"}, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, 2.419, .333},
		{999, 2.9688, 3.0886, 2.2846, 4.2073, 1.192, 4.356, 1.964, .489},
		{1499, 2.9527, 3.0872, 2.2754, 4.1906, 1.445, 4.334, 1.783, .561},
	}, [4]float64{2.9527, 3.0872, 2.2754, 4.1905}},
	{"gmc λ/Σλ", "emgd-gmc", map[string]any{"rescale": "mean"}, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, .963, .037},
		{999, 2.979, 3.0901, 2.2901, 4.2203, .75, 4.375, .895, .105},
		{1499, 2.9727, 3.0893, 2.2865, 4.213, .932, 4.365, .85, .15},
	}, [4]float64{2.9727, 3.0893, 2.2865, 4.213}},
	{"gmc τ=1 λ/Σλ", "emgd-gmc", map[string]any{"tau": 1.0, "rescale": "mean"}, []row{
		{500, 2.9852, 3.0909, 2.2937, 4.2277, .61, 4.386, .509, .491},
		{999, 2.9787, 3.0876, 2.2928, 4.2094, 2.051, 4.356, .662, .338},
		{1499, 2.9718, 3.0861, 2.2912, 4.1985, 2.718, 4.34, .603, .397},
	}, [4]float64{2.9718, 3.0861, 2.2912, 4.1985}},
}

func printed(p Point) string { return fmt.Sprintf("%.4f %.4f %.4f %.4f", p.X, p.Y, p.F1, p.F2) }

func TestFigure2(t *testing.T) {
	for _, tt := range figure2 {
		t.Run(tt.name, func(t *testing.T) {
			trace := run(t, tt.method, tt.params, Figure2())
			for _, r := range append(append([]row(nil), before...), tt.rows...) {
				s := trace.Steps[r.step]
				got := fmt.Sprintf("%s %.3f %.3f %.3f %.3f", printed(s.Point), s.Norm1, s.Norm2, s.Weights[0], s.Weights[1])
				want := fmt.Sprintf("%.4f %.4f %.4f %.4f %.3f %.3f %.3f %.3f", r.x, r.y, r.f1, r.f2, r.norm1, r.norm2, r.weight1, r.weight2)
				if got != want {
					t.Errorf("step %d:\n got %s\nwant %s", r.step, got, want)
				}
			}
			if got, want := printed(trace.End), fmt.Sprintf("%.4f %.4f %.4f %.4f", tt.end[0], tt.end[1], tt.end[2], tt.end[3]); got != want {
				t.Errorf("end: got %s, want %s", got, want)
			}
		})
	}
}

func TestLargerSteps(t *testing.T) {
	tests := []struct {
		method string
		lr     float64
		want   string
	}{
		{"avggrad", 2e-3, "1.2051 2.7946 0.9116 2.3174"},
		{"mgda", 2e-3, "1.4429 2.7962 1.2756 2.1961"},
		{"emgd-gmc", 2e-3, "1.2234 2.6478 1.2133 2.1772"},
		{"avggrad", 2e-2, "0.2086 0.4659 0.2021 0.2075"},
		{"mgda", 2e-2, "0.0359 1.1665 0.0031 0.9028"},
		{"emgd-gmc", 2e-2, "0.0359 1.1665 0.0031 0.9028"},
	}
	for _, tt := range tests {
		s := Figure2()
		s.LR = tt.lr
		if got := printed(run(t, tt.method, nil, s).End); got != tt.want {
			t.Errorf("%s at %v ends at %s, want %s", tt.method, tt.lr, got, tt.want)
		}
	}
}

// Where a method proves its weights, both tasks gain at least their share at every step.
func TestSlacks(t *testing.T) {
	for _, name := range []string{"mgda", "emgd-gmc", "emgd-gs"} {
		for _, s := range run(t, name, nil, Figure2()).Steps {
			want := 0
			if s.Index >= 500 {
				want = 2
			}
			if len(s.Slacks) != want {
				t.Fatalf("%s step %d: %d slacks, want %d", name, s.Index, len(s.Slacks), want)
			}
			for i, slack := range s.Slacks {
				if slack < -1e-9*s.Norm2*s.Norm2 {
					t.Fatalf("%s step %d: slack %d is %v", name, s.Index, i, slack)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	good := Figure2()
	for want, change := range map[string]func(*Settings){
		"0 steps":     func(s *Settings) { s.Steps = 0 },
		"at most":     func(s *Settings) { s.Steps = 1 << 60 },
		"step size 0": func(s *Settings) { s.LR = 0 },
		"step size N": func(s *Settings) { s.LR = math.NaN() },
		"not finite":  func(s *Settings) { s.Start[1] = math.Inf(1) },
		"arrival":     func(s *Settings) { s.Arrival = -1 },
		"diverges":    func(s *Settings) { s.LR = 1e3 },
	} {
		s := good
		change(&s)
		if _, err := Run(newMethod(t, "avggrad", nil), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// sideways is a method with a direction of a wrong length.
type sideways struct{ method.Method }

func (s sideways) Info() method.Info {
	info := s.Method.Info()
	info.Direct = true
	return info
}

func (sideways) Weights(_ *method.Step, w []float64) (method.Outcome, error) {
	return method.Outcome{Direction: w[:1]}, nil
}

// TestDirectionOfAnotherLength: a method of one's own that is wrong about the dimensions is an error.
func TestDirectionOfAnotherLength(t *testing.T) {
	if _, err := Run(sideways{newMethod(t, "avggrad", nil)}, Figure2()); err == nil || !strings.Contains(err.Error(), "Direction of 1 entries") {
		t.Errorf("error %v", err)
	}
}

func TestTraceJSON(t *testing.T) {
	s := Figure2()
	s.Steps, s.Arrival = 3, 1
	trace := run(t, "emgd-gmc", nil, s)
	data, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	var back Trace
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.End != trace.End || len(back.Steps) != 3 || back.Steps[2].X != trace.Steps[2].X || back.Steps[2].Index != 2 {
		t.Errorf("%s does not give the trace back", data)
	}
}

// An arrival at step 0 means both tasks from the start.
func TestArrivalAtStart(t *testing.T) {
	s := Figure2()
	s.Arrival, s.Steps = 0, 10
	trace := run(t, "avggrad", nil, s)
	if trace.Steps[0].Weights != [2]float64{.5, .5} {
		t.Errorf("weights %v at step 0, want (½, ½)", trace.Steps[0].Weights)
	}
}
