package toy

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/method"
)

type params = map[string]any

func run(t testing.TB, name string, p params, s Settings) *Trace {
	t.Helper()
	m, err := method.New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := Run(m, s)
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
		}{"f1": {f1, grad1}, "f2": {f2, grad2}} {
			dx, dy := f.grad(x, y)
			nx := (f.value(x+h, y) - f.value(x-h, y)) / (2 * h)
			ny := (f.value(x, y+h) - f.value(x, y-h)) / (2 * h)
			if tol := 1e-6 * (1 + math.Hypot(dx, dy)); math.Hypot(dx-nx, dy-ny) > tol {
				t.Errorf("∇%s(%.4f, %.4f) = (%v, %v), differences give (%v, %v)", name, x, y, dx, dy, nx, ny)
			}
		}
	}
}

// The numbers of oracles.json, F_toy: the weights at steps 500, 999 and 1499, to 3 digits, and x,
// y, f1, f2 at the end, to 4.
var figure2 = []struct {
	method  string
	params  params
	weights [3][2]float64
	end     [4]float64
}{
	{"avggrad", nil, [3][2]float64{{.5, .5}, {.5, .5}, {.5, .5}}, [4]float64{2.971, 3.0834, 2.2995, 4.1868}},
	{"sum", nil, [3][2]float64{{1, 1}, {1, 1}, {1, 1}}, [4]float64{2.9559, 3.0825, 2.2906, 4.1727}},
	{"mgda", nil, [3][2]float64{{.984, .016}, {1, 0}, {1, 0}}, [4]float64{2.9731, 3.0905, 2.2864, 4.2184}},
	{"emgd-gs", nil, [3][2]float64{{1.968, .032}, {2, 0}, {2, 0}}, [4]float64{2.9611, 3.0899, 2.2791, 4.2078}},
	{"emgd-gmc", nil, [3][2]float64{{2.891, .111}, {2.086, .44}, {1.848, .534}},
		[4]float64{2.9519, 3.0873, 2.2747, 4.1906}},
	{"emgd-gmc", params{"tau": 1.0}, [3][2]float64{{1.036, .999}, {1.28, .926}, {1.131, .942}},
		[4]float64{2.9514, 3.0835, 2.2832, 4.1738}},
	{"emgd-gmc", params{"floor": "release"}, [3][2]float64{{2.419, .333}, {1.964, .489}, {1.783, .561}},
		[4]float64{2.9527, 3.0872, 2.2754, 4.1905}},
	{"emgd-gmc", params{"rescale": "mean"}, [3][2]float64{{.963, .037}, {.895, .105}, {.85, .15}},
		[4]float64{2.9727, 3.0893, 2.2865, 4.213}},
	{"emgd-gmc", params{"tau": 1.0, "rescale": "mean"}, [3][2]float64{{.509, .491}, {.662, .338}, {.603, .397}},
		[4]float64{2.9718, 3.0861, 2.2912, 4.1985}},
}

func printed(p Point) string { return fmt.Sprintf("%.4f %.4f %.4f %.4f", p.X, p.Y, p.F1, p.F2) }

func TestFigure2(t *testing.T) {
	for _, tt := range figure2 {
		trace := run(t, tt.method, tt.params, Figure2())
		for i, step := range []int{500, 999, 1499} {
			if got, want := fmt.Sprintf("%.3f", trace.Steps[step].Weights), fmt.Sprintf("%.3f", tt.weights[i]); got != want {
				t.Errorf("%s %v, step %d: weights %s, want %s", tt.method, tt.params, step, got, want)
			}
		}
		if got, want := printed(trace.End), fmt.Sprintf("%.4f %.4f %.4f %.4f", tt.end[0], tt.end[1], tt.end[2],
			tt.end[3]); got != want {
			t.Errorf("%s %v: the end is %s, want %s", tt.method, tt.params, got, want)
		}
		// Until the arrival every method is plain descent on f1.
		s := trace.Steps[499]
		if got := fmt.Sprintf("%s %.3f %.3f", printed(s.Point), s.Norm1,
			s.Norm2); got != "2.9852 3.0909 2.2937 4.2277 0.610 4.386" || s.Weights != [2]float64{1, 0} {
			t.Errorf("%s: before the arrival %s, weights %v", tt.method, got, s.Weights)
		}
	}
}

func TestLargerSteps(t *testing.T) {
	for _, tt := range []struct {
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
	} {
		t.Run(tt.method, func(t *testing.T) {
			s := Figure2()
			s.LR = tt.lr
			if got := printed(run(t, tt.method, nil, s).End); got != tt.want {
				t.Errorf("%s at %v ends at %s, want %s", tt.method, tt.lr, got, tt.want)
			}
		})
	}
}

// Where a method proves its weights, both tasks gain at least their share at every step.
func TestSlacks(t *testing.T) {
	for _, name := range []string{"mgda", "emgd-gmc", "emgd-gs"} {
		t.Run(name, func(t *testing.T) {
			for _, s := range run(t, name, nil, Figure2()).Steps {
				if len(s.Slacks) != 2 != (s.Index < 500) {
					t.Fatalf("%s step %d: %d slacks", name, s.Index, len(s.Slacks))
				}
				for i, slack := range s.Slacks {
					if slack < -1e-9*s.Norm2*s.Norm2 {
						t.Fatalf("%s step %d: slack %d is %v", name, s.Index, i, slack)
					}
				}
			}
		})
	}
}

// sideways is a method with a direction of a wrong length.
type sideways struct{ method.Method }

func (sideways) Needs() method.Needs { return method.Needs{Direction: true} }

func (sideways) Weights(_ *method.Step, w []float64) (method.Outcome, error) {
	return method.Outcome{Direction: w[:1]}, nil
}

func TestErrors(t *testing.T) {
	m, err := method.New("avggrad", nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Settings){
		"no steps": func(s *Settings) { s.Steps = 0 }, "many steps": func(s *Settings) { s.Steps = 1 << 60 },
		"no step size": func(s *Settings) { s.LR = 0 }, "NaN as step size": func(s *Settings) { s.LR = math.NaN() },
		"no start": func(s *Settings) { s.Start[1] = math.Inf(1) }, "an arrival before": func(s *Settings) { s.Arrival = -1 },
		"a divergence": func(s *Settings) { s.LR = 1e3 },
	} {
		t.Run(what, func(t *testing.T) {
			s := Figure2()
			change(&s)
			if _, err := Run(m, s); err == nil {
				t.Error("no error")
			}
		})
	}
	_, err = Run(sideways{m}, Figure2())
	expect.Refusal(t, "Run", err, "method sideways")
}

// TestTraceJSON, with an arrival at step 0: both tasks from the start.
func TestTraceJSON(t *testing.T) {
	s := Figure2()
	s.Steps, s.Arrival = 3, 0
	trace := run(t, "avggrad", nil, s)
	var back Trace
	data, err := json.Marshal(trace)
	switch {
	case err != nil:
		t.Error(err)
	case json.Unmarshal(data, &back) != nil:
		t.Error(json.Unmarshal(data, &back))
	case back.End != trace.End:
		t.Errorf("back.End is %+v; want %+v", back.End, trace.End)
	case len(back.Steps) != 3:
		t.Errorf("len(back.Steps) is %d; want 3", len(back.Steps))
	case back.Steps[0].Weights != [2]float64{.5, .5}:
		t.Errorf("back.Steps[0].Weights is %v; want %v", back.Steps[0].Weights, [2]float64{.5, .5})
	}
}
