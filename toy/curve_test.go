package toy_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/toy"
)

var regen = flag.Bool("regen", false, "write testdata/curve.json anew")

// curve is what testdata/curve.json holds: f1 and f2 before every 50th step of Figure 2, and after
// the last.
type curve struct {
	Method string       `json:"method"`
	Every  int          `json:"every"`
	Losses [][2]float64 `json:"losses"`
}

// TestCurve holds the descent still that `examples/pytorch_emgd.py`, `examples/jax_emgd.py` and the
// tests of the Python package repeat.
func TestCurve(t *testing.T) {
	m, err := method.New("emgd-gmc", nil)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := toy.Run(m, toy.Figure2())
	if err != nil {
		t.Fatal(err)
	}
	got := curve{Method: "emgd-gmc", Every: 50}
	for i := 0; i < len(trace.Steps); i += got.Every {
		got.Losses = append(got.Losses, [2]float64{trace.Steps[i].F1, trace.Steps[i].F2})
	}
	got.Losses = append(got.Losses, [2]float64{trace.End.F1, trace.End.F2})
	const file = "testdata/curve.json"
	if *regen {
		text, err := json.Marshal(got)
		if err == nil {
			err = os.WriteFile(file, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want curve
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Losses) != len(got.Losses) || want.Every != got.Every {
		t.Fatalf("%d losses in the file, want %d", len(want.Losses), len(got.Losses))
	}
	for i, losses := range want.Losses {
		for f := range losses {
			if math.Abs(losses[f]-got.Losses[i][f]) > 1e-9 {
				t.Errorf("step %d: f%d = %v, was %v", i*got.Every, f+1, got.Losses[i][f], losses[f])
			}
		}
	}
}
