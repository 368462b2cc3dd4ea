package weigh

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/method"
)

var (
	rows = [][]float64{{-4, 1, 1}, {6, 1, 1}}
	gram = []float64{18, -22, -22, 38}
)

func opened(t testing.TB, name string, params map[string]any) *Rule {
	t.Helper()
	r := must.Get(New(name, params, 1))(t)
	return r
}

// remembered is the rule's state as text.
func remembered(t testing.TB, r *Rule) string {
	t.Helper()
	s := must.Get(r.State())(t)
	return string(s)
}

// TestErrorsChangeNothing gives every method a step, then steps that are refused, some of them
// after the method has computed its weights.
func TestErrorsChangeNothing(t *testing.T) {
	nan := math.NaN()
	big := [][]float64{{1e308, -1e308}, {1e308, 1e308}}
	for _, name := range method.Names() {
		r, w := opened(t, name, nil), make([]float64, 2)
		if _, err := r.Weights(&Problem{Rows: rows, Losses: []float64{1, 2}, After: []float64{1, 1}}, w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before := remembered(t, r)
		for what, p := range map[string]*Problem{
			"NaN in the Gram matrix": {Gram: []float64{1, nan, nan, 1}, Losses: []float64{1, 2}},
			"an infinite product":    {Gram: []float64{1, 0, math.Inf(1), 1}, Losses: []float64{1, 2}},
			"a negative square":      {Gram: []float64{1, 0, 0, -1}, Losses: []float64{1, 2}},
			"a short Gram matrix":    {Gram: []float64{1, 0, 0}, Losses: []float64{1, 2}},
			"NaN in the Jacobian":    {Rows: [][]float64{{1, nan}, {1, 2}}, Losses: []float64{1, 2}},
			"NaN loss":               {Rows: rows, Losses: []float64{1, nan}},
			"no gradients":           {Losses: []float64{1, 2}},
			"both":                   {Rows: rows, Gram: gram},
			"other rows":             {Rows: [][]float64{{1, 2, 3, 4}, {1, 2}}, Losses: []float64{1, 2}},
			"the same id twice":      {Rows: rows, Losses: []float64{1, 2}, IDs: []int{3, 3}},
			"losses after, too many": {Rows: rows, Losses: []float64{1, 2}, After: []float64{1, 2, 3}},
			"sigma of one":           {Rows: rows, Losses: []float64{1, 2}, Sigma: []float64{1}},
			"sigma of zeros":         {Rows: rows, Losses: []float64{1, 2}, Sigma: []float64{0, 0}},
		} {
			if _, err := r.Weights(p, w); err == nil {
				t.Errorf("%s: %s is not refused", name, what)
			}
			if after := remembered(t, r); after != before {
				t.Errorf("%s: after %s it remembers %s, before %s", name, what, after, before)
			}
		}
		if _, err := r.Weights(&Problem{Rows: big, Losses: []float64{-1, 1e308}}, w); err != nil &&
			remembered(t, r) != before {
			t.Errorf("%s: after the error %q it remembers %s, before %s", name, err, remembered(t, r), before)
		}
	}
}

// TestFailuresAfterTheRuleAreUndone: the sum of the weighted gradients overflows when the moving
// averages and the random numbers have already moved on.
func TestFailuresAfterTheRuleAreUndone(t *testing.T) {
	for _, c := range []struct {
		name   string
		params map[string]any
	}{
		{"emgd-gmc", map[string]any{"tau": "inf"}}, {"emgd-log", nil}, {"dwa", nil}, {"gradnorm", nil}, {"pcgrad", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w := opened(t, c.name, c.params), make([]float64, 2)
			must.Get(r.Weights(&Problem{Rows: rows, Losses: []float64{1, 2}, IDs: []int{3, 8}}, w))(t)
			before := remembered(t, r)
			huge := [][]float64{{1.7e308, 0}, {1.7e308, 1e300}}
			if _, err := r.Weights(&Problem{Rows: huge, Losses: []float64{1, 2}, IDs: []int{8, 9}}, w); err == nil {
				t.Errorf("the sum is in range, weights %v", w)
			}
			if after := remembered(t, r); after != before {
				t.Errorf("it remembers %s, before %s", after, before)
			}
		})
	}
}

// TestStateGoesOn: with the state of another, a rule gives the same bits; also through a text.
func TestStateGoesOn(t *testing.T) {
	for _, name := range append(method.Names(), "emgd-gmc+der-pp") {
		a, b := opened(t, name, nil), opened(t, name, nil)
		wa, wb := make([]float64, 2), make([]float64, 2)
		p := &Problem{Rows: rows, Losses: []float64{1, 2}}
		must.Get(a.Weights(p, wa))(t)
		must.Do(t, b.SetState([]byte(remembered(t, a))))
		p = &Problem{Rows: [][]float64{{1, 2, 3}, {3, -2, 1}}, Losses: []float64{0.5, 2}}
		outA, errA := a.Weights(p, wa)
		outB, errB := b.Weights(p, wb)
		switch {
		case errA != nil:
			t.Errorf("%s: %v", name, errA)
		case errB != nil:
			t.Errorf("%s: %v", name, errB)
		case !slices.Equal(wa, wb):
			t.Errorf("%s: wa is %v; want %v", name, wa, wb)
		case !slices.Equal(outA.Direction, outB.Direction):
			t.Errorf("%s: outA.Direction is %v; want %v", name, outA.Direction, outB.Direction)
		}
		a.End(1)
		a.End(2)
	}
}

func TestStateRefuses(t *testing.T) {
	r, w := opened(t, "emgd-gmc", nil), make([]float64, 2)
	must.Get(r.Weights(&Problem{Gram: gram}, w))(t)
	before := remembered(t, r)
	for bad, want := range map[string]string{
		"":                      "no JSON",
		"{}":                    `holds the state of ""`,
		`{"method":"dwa"}`:      "not of emgd-gmc",
		`{"method":"emgd-gmc"}`: "",
		`{"x":1}`:               "not known here",
		before[:len(before)-2]:  "ends in the middle",
		before + "{}":           "there is more",
		strings.Replace(before, "tau=5", "tau=1", 1): "use the settings",
	} {
		t.Run(bad, func(t *testing.T) {
			err := r.SetState([]byte(bad))
			if err == nil {
				t.Errorf("%s is taken; want an error about %q", bad, want)
			}
			if remembered(t, r) != before {
				t.Errorf("%s changed the state", bad)
			}
		})
	}
}

// TestStateOfOtherParameters: a state belongs to the parameters it was saved with, however they
// were given.
func TestStateOfOtherParameters(t *testing.T) {
	for _, c := range []struct {
		name  string
		other map[string]any
	}{
		{"dwa", map[string]any{"momentum": 0.5}}, {"gradvac", map[string]any{"beta": 0.1}},
		{"famo", map[string]any{"lr": 0.5}},
		{"emgd-gmc", map[string]any{"floor": "release"}}, {"mgda", map[string]any{"rescale": "mean"}},
		{"emgd-gmc+der-pp", map[string]any{"alpha": 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := opened(t, c.name, nil), opened(t, c.name, c.other)
			if err := b.SetState([]byte(remembered(t, a))); err == nil {
				t.Errorf("%s with %v: %v", c.name, c.other, expect.Text(err))
			}
		})
	}
	for _, same := range [][2]map[string]any{
		{nil, {"tau": "5", "momentum": 0.9}}, {{"tau": 5.0}, {"tau": "5.0"}}, {{"tau": "inf"}, {"tau": math.Inf(1)}},
		{{"floor": "0.0"}, {"floor": 0}}, {{"floor": 1e-7}, {"floor": "1e-7"}},
	} {
		if err := opened(t, "emgd-gmc", same[1]).SetState([]byte(remembered(t, opened(t, "emgd-gmc", same[0])))); err != nil {
			t.Errorf("%v and %v: %v", same[0], same[1], err)
		}
	}
}

// leftOut are the methods that do more in a learner than compute weights.
var leftOut = map[string][]string{
	"der-pp": {"its own loss", "its choice of samples for the memory"},
	"emgd":   {"its own loss", "its choice of samples for the memory", "its rule of prediction"},
	"gdumb": {"its choice of samples for the memory", "its rule of prediction",
		"its training when it is evaluated"},
	"gem":          {"its choice of samples for the memory"},
	"gmed":         {"its choice of samples for the memory"},
	"gmed-release": {"its choice of samples for the memory"},
	"gss":          {"its choice of samples for the memory"},
	"icarl":        {"its own loss", "its choice of samples for the memory", "its rule of prediction"},
	"lda": {"its choice of samples for the memory", "its rule of prediction",
		"its training when it is evaluated"},
	"mdmtr": {"its own loss"},
	"mir":   {"its choice of samples for the memory"},
	"modo":  {"its products of two halves of each batch"},
	"pocl":  {"its choice of samples for the memory"},
	"ranpac": {"its choice of samples for the memory", "its rule of prediction",
		"its training when it is evaluated"},
	"ranpac-trained": {"its own loss", "its choice of samples for the memory", "its rule of prediction"},
	"simplecil": {"its choice of samples for the memory", "its rule of prediction",
		"its training when it is evaluated"},
}

// TestDescribe: every description is JSON and says what is left out.
func TestDescribe(t *testing.T) {
	for _, name := range method.Names() {
		text, err := opened(t, name, nil).Describe()
		var d description
		if err == nil {
			err = json.NewDecoder(bytes.NewReader(text)).Decode(&d)
		}
		if err != nil || d.Name != name {
			t.Errorf("%s: %s %v", name, text, expect.Text(err))
		}
		if d.Needs.Cross != slices.Contains(d.LeavesOut, "its products of two halves of each batch") ||
			name == "modo" && !d.Needs.Cross {
			t.Errorf("%s needs products of halves of batches: %v; it leaves out %v", name, d.Needs.Cross, d.LeavesOut)
		}
		if want := leftOut[name]; !slices.Equal(d.LeavesOut, want) {
			t.Errorf("%s leaves out %q, want %q", name, d.LeavesOut, want)
		}
	}
}

// TestDescribeOfComposition: a composition that the defaults of its parameters do not allow is
// described all the same.
func TestDescribeOfComposition(t *testing.T) {
	text, err := opened(t, "gem+ewc", map[string]any{"rows": "apart"}).Describe()
	if err != nil || !bytes.Contains(text, []byte(`"name":"ewc.rows"`)) {
		t.Errorf("%s %v", text, expect.Text(err))
	}
}

// TestOneDoor: errors about a Gram matrix have the words of [emgd.NewProblem], whatever the rule.
func TestOneDoor(t *testing.T) {
	for _, gram := range [][]float64{{1, 2, 2, 1}, {1, .5, .2, 1}, {1, 0, 0, -1}, {1, math.NaN(), 0, 1},
		{5e-324, 2e-323, 2e-323, 5e-324}} {
		_, want := emgd.NewProblem(gram)
		for _, name := range []string{"avggrad", "krum", "mgda", "emgd-gmc", "emgd-gmc+der-pp"} {
			switch _, err := opened(t, name, nil).Weights(&Problem{Gram: gram}, make([]float64, 2)); {
			case want == nil:
				t.Errorf("%s: no error", name)
			case err == nil:
				t.Errorf("%s: no error", name)
			case err.Error() != want.Error():
				t.Errorf("%s: err.Error() is %q; want %q", name, err.Error(), want.Error())
			}
		}
	}
}

// TestImpossibleTogether: a Gram matrix is refused if any two of its gradients are possible and all
// of them are not, but not for what float32 may have lost: that of three equal gradients, and of
// random ones that depend on each other, at any scale.
func TestImpossibleTogether(t *testing.T) {
	r, w := opened(t, "mgda", nil), make([]float64, 3)
	_, err := r.Weights(&Problem{Gram: []float64{1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}}, w)
	if err == nil {
		t.Errorf("error %v", expect.Text(err))
	}
	if _, err := r.Weights(&Problem{Gram: []float64{1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1}}, w); err != nil {
		t.Errorf("three gradients whose sum is 0: %v", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		k, columns, scale := 3+random.IntN(8), 1+random.IntN(3), math.Ldexp(1, random.IntN(120)-60)
		rows := make([][]float64, k)
		for i := range rows {
			for range columns {
				rows[i] = append(rows[i], random.NormFloat64()*scale)
			}
		}
		gram := make([]float64, k*k)
		for i, a := range rows {
			for j, b := range rows {
				var sum float32
				for c := range a {
					sum += float32(a[c]) * float32(b[c])
				}
				gram[i*k+j] = float64(sum)
			}
		}
		if _, err := r.Weights(&Problem{Gram: gram, NoDirection: true}, make([]float64, k)); err != nil {
			t.Fatalf("the Gram matrix %v of %v: %v", gram, rows, err)
		}
	}
}

// BenchmarkWeights is the Go part of a call from C or Python: five gradients, Gram matrix in,
// weights out.
func BenchmarkWeights(b *testing.B) {
	const k = 5
	g := make([]float64, k*k)
	for i := range k {
		for j := range k {
			for c := range 20 {
				g[i*k+j] += (math.Sin(float64(7*i+3*c)) + 0.3) * (math.Sin(float64(7*j+3*c)) + 0.3)
			}
		}
	}
	for _, name := range []string{"avggrad", "mgda", "emgd-gmc", "emgd-gs", "emgd-log", "upgrad", "config", "dwa"} {
		b.Run(name, func(b *testing.B) {
			r, w := opened(b, name, nil), make([]float64, k)
			p := &Problem{Gram: g, Losses: []float64{1, 2, 3, 4, 5}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Weights(p, w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
