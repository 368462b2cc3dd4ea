package emgd

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

var (
	baseRows  = [][]float64{{-4, 1, 1}, {6, 1, 1}}
	threeRows = [][]float64{{1, 0, 0}, {0, 2, 0}, {2, 2, 1}}
)

// digits6 is the rounding of numbers in print.
const digits6 = 1.3e-6

func step(rows [][]float64, lambda []float64) []float64 {
	d := make([]float64, len(rows[0]))
	for i, row := range rows {
		floats.AddScaled(d, lambda[i], row)
	}
	return d
}

// The worked examples of docs/method.md §9, computed by enumeration.
func TestOracles(t *testing.T) {
	tests := []struct {
		name      string
		rows      [][]float64
		sigma     []float64
		floor     float64
		lambda, d []float64
		status    Status
	}{
		{name: "mgda", rows: baseRows, sigma: []float64{1, 1}, lambda: []float64{.6, .4}, d: []float64{0, 1, 1}},
		{name: "uniform", rows: baseRows, sigma: []float64{.5, .5}, lambda: []float64{1.2, .8}, d: []float64{0, 2, 2}},
		{name: "25 75", rows: baseRows, sigma: []float64{.25, .75}, lambda: []float64{1.253012, .915663},
			d: []float64{.481928, 2.168675, 2.168675}},
		{name: "75 25", rows: baseRows, sigma: []float64{.75, .25}, lambda: []float64{1.105691, .682927},
			d: []float64{-.325203, 1.788618, 1.788618}},
		{name: "norms (ConFIG)", rows: baseRows, sigma: shares(math.Sqrt(18), math.Sqrt(38)),
			lambda: []float64{1.226483, .844124}, d: []float64{.158809, 2.070607, 2.070607}},
		{name: "one-hot (GEM)", rows: baseRows, sigma: []float64{1, 0}, lambda: []float64{1, .578947},
			d: []float64{-.526316, 1.578947, 1.578947}},
		{name: "uniform floor", rows: baseRows, sigma: []float64{.5, .5}, floor: 1. / 3, lambda: []float64{1.2, .8},
			d: []float64{0, 2, 2}},
		{name: "25 75 floor", rows: baseRows, sigma: []float64{.25, .75}, floor: 1. / 3, lambda: []float64{1.253012, .915663},
			d: []float64{.481928, 2.168675, 2.168675}},
		{name: "75 25 floor", rows: baseRows, sigma: []float64{.75, .25}, floor: 1. / 3, lambda: []float64{1.105691, .682927},
			d: []float64{-.325203, 1.788618, 1.788618}},
		{name: "norms floor", rows: baseRows, sigma: shares(math.Sqrt(18), math.Sqrt(38)), floor: 1. / 3,
			lambda: []float64{1.226483, .844124}, d: []float64{.158809, 2.070607, 2.070607}},
		{name: "three mgda", rows: threeRows, sigma: []float64{1, 1, 1}, lambda: []float64{.8, .2, 0},
			d: []float64{.8, .4, 0}},
		{name: "three", rows: threeRows, sigma: []float64{.2, .3, .5}, lambda: []float64{3.2, 1.2, 0},
			d: []float64{3.2, 2.4, 0}},
		{name: "pair mgda", rows: [][]float64{{2, 0}, {-1, 1}}, sigma: []float64{1, 1}, lambda: []float64{.4, .6},
			d: []float64{.2, .6}},
		{name: "pair A-GEM", rows: [][]float64{{2, 0}, {-1, 1}}, sigma: []float64{1, 0}, lambda: []float64{1, 1},
			d: []float64{1, 1}},
		{name: "pair GEM", rows: [][]float64{{2, 0}, {-.25, 1}}, sigma: []float64{1, 0}, lambda: []float64{1, .470588},
			d: []float64{1.882353, .470588}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := solveRows(t, &Solver{Floor: tt.floor}, tt.rows, tt.sigma)
			near(t, "λ", c.Lambda, tt.lambda, digits6)
			near(t, "d", step(tt.rows, c.Lambda), tt.d, digits6)
			if c.Status != tt.status {
				t.Errorf("status %v, want %v", c.Status, tt.status)
			}
		})
	}
}

// Factors and weights of a first step with the rules GMC and GS.
func TestElasticOracles(t *testing.T) {
	tests := []struct {
		name             string
		rows             [][]float64
		elastic          Elastic
		floor            float64
		sigma, lambda, d []float64
	}{
		{name: "base gmc τ=5", rows: baseRows, sigma: []float64{.405077, .594923}, lambda: []float64{1.227128, .845351},
			d: []float64{.163592, 2.072479, 2.072479}},
		{name: "base gmc τ=1", rows: baseRows, elastic: Elastic{Tau: 1}, sigma: []float64{.127664, .872336},
			lambda: []float64{1.251119, .963249}, d: []float64{.775018, 2.214369, 2.214369}},
		{name: "base gs τ=1", rows: baseRows, elastic: Elastic{Rule: GS, Tau: 1}, sigma: []float64{.5, .5},
			lambda: []float64{1.2, .8}, d: []float64{0, 2, 2}},
		{name: "base gmc floor", rows: baseRows, floor: 1. / 3, sigma: []float64{.405077, .594923},
			lambda: []float64{1.227128, .845351}, d: []float64{.163592, 2.072479, 2.072479}},
		{name: "three gs τ=1", rows: threeRows, elastic: Elastic{Rule: GS, Tau: 1}, sigma: []float64{.25331, .25331, .49338},
			lambda: []float64{3.158187, .789547, 0}, d: []float64{3.158187, 1.579094, 0}},
		{name: "three gmc τ=5", rows: threeRows, sigma: []float64{.269307, .328933, .40176},
			lambda: []float64{2.704549, .825836, 0}, d: []float64{2.704549, 1.651672, 0}},
		{name: "three gmc floor ¼", rows: threeRows, floor: .25, sigma: []float64{.269307, .328933, .40176},
			lambda: []float64{2.519486, .672002, .25}, d: []float64{3.019486, 1.844004, .25}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := len(tt.rows)
			sigma := make([]float64, k)
			if err := tt.elastic.Factors([]int{0, 1, 2}[:k], of(gramOf(tt.rows)), sigma); err != nil {
				t.Fatal(err)
			}
			c := solveRows(t, &Solver{Floor: tt.floor}, tt.rows, sigma)
			near(t, "σ", sigma, tt.sigma, digits6)
			near(t, "λ", c.Lambda, tt.lambda, digits6)
			near(t, "d", step(tt.rows, c.Lambda), tt.d, digits6)
			if tt.floor == .25 && (c.Status != FloorBinding || len(c.Active) != 2) {
				t.Errorf("status %v with active rows %v, want floor-binding with two", c.Status, c.Active)
			}
		})
	}
}
