package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// reference is what bench/peers/significance.py wrote.
type reference struct {
	Wilcoxon []struct {
		A, B          []float64
		Pratt, Zsplit float64
	}
	SignFlip []struct {
		A, B []float64
		P    float64
	} `json:"sign_flip"`
	Bootstrap []struct {
		Scores   [][][]float64 // label set, timeline, seed
		Over     string
		OneFewer bool                                     `json:"one_fewer"`
		Mean     struct{ Brackets map[string][2]float64 } // of quantiles, over all replicates
	}
	Ranks []struct {
		Scores [][]float64
		Ranks  []float64
	}
}

func scipy(t *testing.T) reference {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/scipy.json"))(t)
	var r reference
	must.Do(t, json.Unmarshal(data, &r))
	for i, n := range []int{len(r.Wilcoxon), len(r.SignFlip), len(r.Bootstrap), len(r.Ranks)} {
		if n == 0 {
			t.Fatalf("list %d of testdata/scipy.json is empty", i+1)
		}
	}
	return r
}

// near says whether numbers agree but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

// same says whether p-values agree to nine digits, however small.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }

// scored makes scores of values by label set, timeline and seed.
func scored(values [][][]float64) (out []Score) {
	for l, timelines := range values {
		for t, seeds := range timelines {
			for s, v := range seeds {
				out = append(out, Score{Trial{Situation{uint64(l), uint64(t)}, uint64(1234 + s)}, v})
			}
		}
	}
	return out
}
