package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// The problems of docs/method.md §9.
const (
	baseJ  = `{"jacobian":[[-4,1,1],[6,1,1]]}`
	base   = `{"gram":[[18,-22],[-22,38]]}`
	threeJ = `{"jacobian":[[1,0,0],[0,2,0],[2,2,1]]}`
)

// withSigma adds elastic factors to a problem.
func withSigma(problem, sigma string) string {
	return strings.TrimSuffix(problem, "}") + `,"sigma":` + sigma + "}"
}

// TestWeightsOracles compares with numbers that were computed independently of this library and
// rounded to six decimals. In the base problem all floors lie below the weights.
func TestWeightsOracles(t *testing.T) {
	third, quarter := []string{"floor=0.3333333333333333"}, []string{"floor=0.25"}
	for _, c := range []struct {
		name, method string
		params       []string
		in           string
		weights      []float64
		direction    []float64
		sigma        []float64
	}{
		{"MGDA", "mgda", nil, base, []float64{.6, .4}, nil, []float64{1, 1}},
		{"MGDA from J", "mgda", nil, baseJ, []float64{.6, .4}, []float64{0, 1, 1}, nil},
		{"σ uniform", "emgd-gmc", nil, withSigma(baseJ, "[0.5,0.5]"), []float64{1.2, .8}, []float64{0, 2, 2},
			[]float64{.5, .5}},
		{"σ .25 .75", "emgd-gmc", nil, withSigma(baseJ, "[0.25,0.75]"), []float64{1.253012, .915663},
			[]float64{.481928, 2.168675, 2.168675}, nil},
		{"σ .75 .25", "emgd-gs", nil, withSigma(baseJ, "[0.75,0.25]"), []float64{1.105691, .682927},
			[]float64{-.325203, 1.788618, 1.788618}, nil},
		{"σ 1 0 is GEM", "emgd-gmc", nil, withSigma(baseJ, "[1,0]"), []float64{1, .578947},
			[]float64{-.526316, 1.578947, 1.578947}, nil},
		{"σ .25 .75, floor", "emgd-gmc", third, withSigma(baseJ, "[0.25,0.75]"), []float64{1.253012, .915663}, nil, nil},
		{"σ .75 .25, release", "emgd-gmc", []string{"floor=release"}, withSigma(baseJ, "[0.75,0.25]"),
			[]float64{1.105691, .682927}, nil, nil},
		{"GMC τ=5", "emgd-gmc", nil, baseJ, []float64{1.227128, .845351}, []float64{.163592, 2.072479, 2.072479},
			[]float64{.405077, .594923}},
		{"GMC τ=1", "emgd-gmc", []string{"tau=1"}, baseJ, []float64{1.251119, .963249},
			[]float64{.775018, 2.214369, 2.214369}, []float64{.127664, .872336}},
		{"GMC τ=1, floor", "emgd-gmc", append([]string{"tau=1"}, third...), baseJ, []float64{1.251119, .963249}, nil, nil},
		{"GS τ=1", "emgd-gs", []string{"tau=1"}, base, []float64{1.2, .8}, nil, []float64{.5, .5}},
		{"three: MGDA", "mgda", nil, threeJ, []float64{.8, .2, 0}, []float64{.8, .4, 0}, nil},
		{"three: σ .2 .3 .5", "emgd-gs", nil, withSigma(threeJ, "[0.2,0.3,0.5]"), []float64{3.2, 1.2, 0},
			[]float64{3.2, 2.4, 0}, nil},
		{"three: GS τ=1", "emgd-gs", []string{"tau=1"}, threeJ, []float64{3.158187, .789547, 0},
			[]float64{3.158187, 1.579094, 0}, []float64{.25331, .25331, .49338}},
		{"three: GMC τ=5", "emgd-gmc", nil, threeJ, []float64{2.704549, .825836, 0}, []float64{2.704549, 1.651672, 0},
			[]float64{.269307, .328933, .40176}},
		{"three: GMC, release", "emgd-gmc", []string{"floor=release"}, threeJ, []float64{2.519486, .672002, .25},
			[]float64{3.019486, 1.844004, .25}, nil},
		{"three: GMC, floor 1/4", "emgd-gmc", quarter, threeJ, []float64{2.519486, .672002, .25},
			[]float64{3.019486, 1.844004, .25}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"weigh", "--method", c.method}
			for _, p := range c.params {
				args = append(args, "--param", p)
			}
			var stdout, stderr bytes.Buffer
			rc := &runContext{ctx: t.Context(), stdin: strings.NewReader(c.in), stdout: &stdout, stderr: &stderr}
			if code := execute(rc, args); code != 0 {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
			var got answer
			must.Do(t, json.Unmarshal(stdout.Bytes(), &got))
			near(t, "weights", got.Weights, c.weights)
			if strings.Contains(c.in, "gram") != (got.Direction == nil) {
				t.Errorf("direction %v", got.Direction)
			}
			if c.direction != nil {
				near(t, "direction", got.Direction, c.direction)
			}
			if c.sigma != nil {
				near(t, "sigma", got.Certificate.Sigma, c.sigma)
			}
			if math.Abs(got.Certificate.Gap) > 1e-12 {
				t.Errorf("gap %g", got.Certificate.Gap)
			}
		})
	}
}

// near compares with numbers of six decimals.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s %v, want %v", what, got, want)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-6) {
			t.Errorf("%s %v, want %v", what, got, want)
			return
		}
	}
}

// answerTo runs pcl weigh on one problem.
func answerTo(t *testing.T, method, in string, args ...string) (got answer, text, stderr string, code int) {
	t.Helper()
	var out, notes bytes.Buffer
	rc := &runContext{ctx: t.Context(), stdin: strings.NewReader(in), stdout: &out, stderr: &notes}
	code = execute(rc, append([]string{"weigh", "--method", method}, args...))
	text = out.String()
	if code == 0 {
		must.Do(t, json.NewDecoder(&out).Decode(&got))
	}
	return got, text, notes.String(), code
}

// TestDroppedRowsAreNamed: in the answer, in the certificate and in its text.
func TestDroppedRowsAreNamed(t *testing.T) {
	in := `{"jacobian":[[1e7,0],[-1e-6,5e-7]],"ids":[3,8]}`
	got, _, _, _ := answerTo(t, "emgd-gs", in)
	c := got.Certificate
	switch {
	case c == nil:
		t.Fatal("c is nil")
	case c.Status != "rows-dropped":
		t.Fatalf("c.Status is %q; want %q", c.Status, "rows-dropped")
	case c.Slacks[1] != -10:
		t.Fatalf("c.Slacks[1] is %g; want -10", c.Slacks[1])
	case len(c.Dropped) != 1:
		t.Fatalf("len(c.Dropped) is %d; want 1", len(c.Dropped))
	case c.Dropped[0] != 1:
		t.Fatalf("c.Dropped[0] is %d; want 1", c.Dropped[0])
	case len(got.Dropped) != 1:
		t.Fatalf("len(got.Dropped) is %d; want 1", len(got.Dropped))
	case got.Dropped[0] != 8:
		t.Fatalf("got.Dropped[0] is %d; want 8", got.Dropped[0])
	}
	if strings.Contains(c.Message, "decreases every loss in") || !strings.Contains(c.Message, "row 1") {
		t.Errorf("message %q", c.Message)
	}
	if got, text, _, _ := answerTo(t, "imtl-g", in); len(got.Dropped) != 1 || got.Dropped[0] != 8 {
		t.Error(text)
	}
}

// TestWeightsSayWhatIsMissing: one line for methods of which weights are not all, and none for
// others.
func TestWeightsSayWhatIsMissing(t *testing.T) {
	in := `{"jacobian":[[1,2],[3,4]],"losses":[1,2]}`
	for name, want := range map[string]string{"famo": "losses_after", "der-pp": "its own loss",
		"icarl": "rule of prediction", "gss": "samples for the memory", "mgda": "", "emgd-gmc": ""} {
		t.Run(name, func(t *testing.T) {
			_, _, stderr, code := answerTo(t, name, in+"\n"+in)
			switch {
			case code != 0:
				t.Errorf("code is %d; want 0", code)
			case !strings.Contains(stderr, want):
				t.Errorf("stderr is %q; want %q in it", stderr, want)
			case strings.Count(stderr, "\n") != min(1, len(want)):
				t.Errorf("exit code %d, %q; want one line with %q", code, stderr, want)
			}
		})
	}
}

// FuzzWeights gives arbitrary text to every method: it never panics, and it answers in finite
// numbers, or with an error that numbers the problem.
func FuzzWeights(f *testing.F) {
	for _, in := range []string{
		"", "null", "[]", base, baseJ + "\n" + threeJ, withSigma(base, "[0.5,0.5]"), `{"jacobian":[[0,0],[1e-160,0]]}`,
		`{"jacobian":[[1e154,1],[-1e154,1]],"losses":[1,0],"ids":[0,3]}`,
		`{"gram":[[1e308,0],[0,1e308]],"losses":[1e-300,1e300]}`,
		`{"gram":[[1,1],[1,1]],"sigma":[0,1e-300],"ids":[-1,1]}`, `{"gram":[[5e-324,0],[0,1]],"losses":[0,0]}`,
		`{"jacobian":[null,[1]]}`,
	} {
		for i := range fuzzed {
			f.Add([]byte(in), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, which uint8) {
		c := fuzzed[int(which)%len(fuzzed)]
		rule := must.Get(weigh.New(c.name, c.params, 1))(t)
		var out bytes.Buffer
		w := &weigher{rule}
		err := w.serve(bytes.NewReader(in), &out)
		answers := json.NewDecoder(&out)
		n, refused := 0, 0
		for ; ; n++ {
			var a struct {
				answer
				Error   *string
				Problem int
			}
			if err := answers.Decode(&a); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("answer %d is not JSON: %v", n+1, err)
			}
			if a.Error != nil {
				refused++
				if strings.TrimSpace(*a.Error) == "" || a.Problem != n+1 {
					t.Errorf("answer %d is the error %q of problem %d", n+1, *a.Error, a.Problem)
				}
			}
			for _, w := range a.Weights {
				if math.IsNaN(w) || math.IsInf(w, 0) {
					t.Errorf("answer %d has weights %v", n+1, a.Weights)
				}
			}
		}
		switch {
		case err == nil && n == 0 && len(bytes.TrimSpace(in)) > 0:
			t.Error("neither an answer nor an error")
		case err == nil && refused > 0:
			t.Errorf("%d errors, and success", refused)
		case err != nil && strings.TrimSpace(err.Error()) == "":
			t.Errorf("error %q says nothing", err)
		}
	})
}

type ruleAndParams struct {
	name   string
	params map[string]any
}

// fuzzed is every method as it comes, and some with what makes extreme numbers likelier.
var fuzzed = append([]ruleAndParams{
	{"emgd-gmc", map[string]any{"tau": "auto", "floor": "release"}},
	{"emgd-gmc", map[string]any{"tau": "1e-3", "momentum": 0.0, "rescale": "match_avg"}},
	{"emgd-gs", map[string]any{"tau": "1", "floor": "0.5", "rescale": "mean"}},
	{"mgda", map[string]any{"norm": "l2"}},
	{"mgda", map[string]any{"norm": "loss+", "rescale": "match_avg"}},
	{"sum", map[string]any{"rescale": "match_avg"}},
}, defaults()...)

func defaults() (all []ruleAndParams) {
	for _, name := range method.Names() {
		all = append(all, ruleAndParams{name, nil})
	}
	return all
}
