package method

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// magnified is the step of s with all gradients multiplied by 2^e, made from the gradients
// themselves.
func magnified(t *testing.T, s sample, e int) *Step {
	t.Helper()
	step := s.step(1)
	step.Rows = slices.Clone(s.rows)
	for i, row := range s.rows {
		step.Rows[i] = slices.Clone(row)
		for p := range row {
			step.Rows[i][p] = math.Ldexp(row[p], e)
		}
	}
	p, err := emgd.FromGradients(step.Rows)
	return through(t, step, p, err)
}

// through returns step with the problem p that emgd made of its gradients.
func through(t *testing.T, step *Step, p *emgd.Problem, err error) *Step {
	t.Helper()
	must.Do(t, err)
	step.Problem, step.Gram = p, p.Gram()
	step.Cross = step.Gram
	return step
}

// The rules that no common factor of the gradients can change but for the length of d.
var scaleFree = []string{
	"mgda", "emgd-gs", "a-gem", "mega-2", "imtl-g", "imtl", "config", "aligned-mtl", "dualproj", "upgrad", "cagrad",
	"nash-mtl", "fairgrad", "sdmgrad", "maxdo-minmax", "maxdo-release", "pcgrad", "gradvac", "krum", "pcd",
	"cr-mogm", "ntkmtl",
}

// TestAnyScale: gradients from one end of float64 to the other give the weights of ordinary ones,
// from the gradients and from a Gram matrix that is given as such.
func TestAnyScale(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 7))
	for _, name := range scaleFree {
		t.Run(name, func(t *testing.T) {
			for k := 1; k <= 6; k++ {
				s := sample{rows: gaussian(r, k, k+2), losses: []float64{1, 2, 3, 4, 5, 6}[:k]}
				want := weigh(t, build(t, name, nil), s.step(1))
				compare := func(what string, step *Step) {
					t.Helper()
					w := make([]float64, k)
					out, err := build(t, name, nil).Weights(step, w)
					if err != nil {
						t.Errorf("%s, %s: %v", name, what, err)
						return
					}
					if len(out.Dropped) > 0 || out.Certificate != nil && out.Certificate.Status != emgd.Optimal {
						t.Errorf("%s, %s: dropped %v, certificate %v", name, what, out.Dropped, out.Certificate)
					}
					factor := 1 / slices.Max(w)
					for i := range w {
						w[i] *= factor * slices.Max(want)
					}
					wants(t, w, want, 1e-9, "%s, %s: weights ∝", name, what)
				}
				for _, e := range []int{-960, -600, -450, 450, 600, 960} {
					compare(fmt.Sprintf("gradients × 2^%d", e), magnified(t, s, e))
				}
				for _, e := range []int{-1000, -900, 900, 1000} {
					step := s.step(1)
					step.Rows = nil
					for i := range step.Gram {
						step.Gram[i] = math.Ldexp(step.Gram[i], e)
					}
					p, err := emgd.NewProblem(step.Gram)
					compare(fmt.Sprintf("Gram matrix × 2^%d", e), through(t, step, p, err))
				}
			}
		})
	}
}

// TestSmallestGradients: the smallest numbers of float64, whole multiples of 2^-1074, give the
// weights of ordinary ones, but where the weights themselves would be too large.
func TestSmallestGradients(t *testing.T) {
	s := sample{rows: [][]float64{{-4, 1, 1}, {6, 1, 1}, {1, 2, -1}}, losses: []float64{1, 2, .5}}
	for _, name := range scaleFree {
		t.Run(name, func(t *testing.T) {
			if name == "nash-mtl" || name == "fairgrad" {
				return
			}
			want, got := weigh(t, build(t, name, nil), s.step(1)), weigh(t, build(t, name, nil), magnified(t, s, -1074))
			wants(t, got, want, 1e-9, "%s", name)
		})
	}
}

// TestLengthAtAnyScale: rules whose weights follow the length of the gradients see it as it is.
func TestLengthAtAnyScale(t *testing.T) {
	s := sample{rows: [][]float64{{3, 4}, {4, 3}}, losses: []float64{1, 1}}
	for _, e := range []int{-900, 0, 900} {
		t.Run(fmt.Sprint(e), func(t *testing.T) {
			step := magnified(t, s, e)
			for name, params := range map[string]map[string]any{"nash-mtl": nil, "mgda": {"norm": "l2"}} {
				w := weigh(t, build(t, name, params), step)
				at := weigh(t, build(t, name, params), s.step(1))
				wants(t, []float64{math.Ldexp(w[0], e), math.Ldexp(w[1], e)}, at, 1e-12, "%s at 2^%d", name, e)
			}
			m := build(t, "emgd-gmc", map[string]any{"tau": "auto"})
			weigh(t, m, step)
			if got := m.(*EMGDGMC).factors.Norms[s.step(1).IDs[0]]; got != math.Ldexp(5, e) {
				t.Errorf("2^%d: the mean norm is %g, want %g", e, got, math.Ldexp(5, e))
			}
		})
	}
	// GradNorm moves its weights by the lengths; next to 1e270 they go to their least value.
	m := build(t, "gradnorm", nil)
	weigh(t, m, magnified(t, sample{rows: [][]float64{{3, 4}, {6, 8}}, losses: []float64{1, 1}}, 900))
	if w := weigh(t, m, s.step(1)); w[1] > 0.01 {
		t.Errorf("gradnorm: %v, want nearly nothing for the long gradient", w)
	}
}

// TestPCDRemembersLengths: its mean of squared lengths may be out of float64's range, and is saved
// so.
func TestPCDRemembersLengths(t *testing.T) {
	s := sample{rows: [][]float64{{3, 4}, {-4, 3}}, losses: []float64{1, 1}}
	m := stateful(t, build(t, "pcd", nil))
	weigh(t, m, magnified(t, s, -900))
	state, err := m.MarshalState()
	if err != nil || !strings.Contains(string(state), `"exponent":-`) {
		t.Fatalf("%s (%v), want an exponent in it", state, expect.Text(err))
	}
	back := stateful(t, build(t, "pcd", nil))
	must.Do(t, back.UnmarshalState(state))
	if a, b := weigh(t, m, magnified(t, s, -899)), weigh(t, back, magnified(t, s, -899)); !slices.Equal(a, b) {
		t.Errorf("restored: %v, want %v", b, a)
	}
	wants(t, weigh(t, m, s.step(1)), weigh(t, build(t, "pcd", nil), s.step(1)), 1e-9, "after ordinary gradients")
}

// TestFarApart: σ may ask for a gradient that is nothing next to another one.
func TestFarApart(t *testing.T) {
	s := sample{rows: [][]float64{{1e-200, 0}, {-1e100, 1e100}}, losses: []float64{1, 1}}
	w := make([]float64, 2)
	out, err := build(t, "emgd-gmc", nil).(Elastic).WeightsFor(magnified(t, s, 0), []float64{1, 0}, w)
	switch {
	case err != nil:
		t.Error(err)
	case out.Certificate.Status != emgd.Optimal:
		t.Errorf("out.Certificate.Status is %v; want %v", out.Certificate.Status, emgd.Optimal)
	case !near([]float64{w[0], w[1] * 1e300}, []float64{1, .5}, 1e-12):
		t.Errorf("weights %v, %v (%v)", w, out.Certificate, err)
	}
}

// TestFloat32Memory: methods that remember gradients refuse those that float32 cannot hold.
func TestFloat32Memory(t *testing.T) {
	for _, name := range []string{"moco", "db-mtl", "excess-mtl", "sam-gs", "gcond"} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []int{-900, -200, 140, 900} {
				s := sample{rows: [][]float64{{3, 4}, {-4, 3}}, losses: []float64{1, 1}}
				if _, err := try(build(t, name, nil), magnified(t, s, e)); err == nil {
					t.Errorf("%s at 2^%d: error %v", name, e, expect.Text(err))
				}
			}
			s := sample{rows: [][]float64{{3, 1e39}, {-4, 3}}, losses: []float64{1, 1}}
			if _, err := try(build(t, name, nil), s.step(1)); err == nil {
				t.Errorf("%s with one entry beyond: error %v", name, expect.Text(err))
			}
		})
	}
}

// TestDelicate: where gradients nearly cancel, the certificate holds for the gradients themselves
// and not only for their rounded Gram matrix.
func TestDelicate(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	worse := 0
	for range 200 {
		e := math.Pow(10, -5+2*r.Float64())
		s := sample{rows: [][]float64{{r.Float64() + 1, e * r.Float64(), e}, {-r.Float64() - 1, e, e * r.Float64()},
			{0, e * r.Float64(), e * r.Float64()}}, losses: []float64{1, 1, 1}}
		given := must.Get(emgd.FromGradients(s.rows))(t)
		out := must.Get(build(t, "mgda", nil).Weights(through(t, s.step(1), given, nil), make([]float64, 3)))(t)
		if err := out.Certificate.Verify(given, 1e-9); err != nil && out.Certificate.Status == emgd.Optimal {
			t.Errorf("gradients %v: %v", s.rows, err)
		}
		rounded := must.Get(emgd.NewProblem(s.step(1).Gram))(t)
		plain := must.Get(new(emgd.Solver).Solve(rounded, []float64{1, 1, 1}))(t)
		if plain.Verify(given, 1e-9) != nil {
			worse++
		}
	}
	if worse == 0 {
		t.Error("the Gram matrix alone is good enough for all of them: the test is too easy")
	}
}

// TestBargainsOutOfRange: weights that float64 cannot hold are an error, and not 0.
func TestBargainsOutOfRange(t *testing.T) {
	s := sample{rows: base}
	for _, c := range []struct {
		name string
		p    values
		e    int
		ok   bool
	}{
		{"fairgrad", values{"alpha": 10.}, 660, false}, {"fairgrad", values{"alpha": 10.}, -660, false},
		{"fairgrad", values{"alpha": 10.}, 500, true},
		{"fairgrad", values{"alpha": .1}, 900, true}, {"nash-mtl", nil, 900, true}, {"nash-mtl", nil, -900, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := try(build(t, c.name, c.p), magnified(t, s, c.e))
			if c.ok != (err == nil) || c.ok && slices.Min(w) <= 0 {
				t.Errorf("%s %v at 2^%d: %v, %v", c.name, c.p, c.e, w, expect.Text(err))
			}
		})
	}
}
