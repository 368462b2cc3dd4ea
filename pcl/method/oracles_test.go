package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The worked examples of docs/method.md §9 for the methods beyond MGDA and EMGD.
func TestOraclesTier1(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		method string
		params values
		rows   [][]float64
		losses []float64
		w, d   []float64
	}{
		{"imtl-g", nil, base, nil, []float64{.592330, .407670}, []float64{.076697, 1, 1}},
		{"config", nil, base, nil, []float64{1.226483, .844124}, []float64{.158809, 2.070607, 2.070607}},
		{"aligned-mtl", nil, base, nil, []float64{.559072, .408261}, []float64{.213279, .967333, .967333}},
		{"dualproj", nil, base, nil, []float64{.611111, .5}, []float64{.555556, 1.111111, 1.111111}},
		{"upgrad", nil, base, nil, []float64{1.111111, .789474}, []float64{.292398, 1.900585, 1.900585}},
		{"aligned-mtl", values{"scale": "rmse"}, [][]float64{{3, 0}, {0, 4}}, nil, []float64{.589256, .441942}, []float64{1.767767, 1.767767}}, // √12.5/2
		{"aligned-mtl", values{"scale": "median"}, [][]float64{{3, 0}, {0, 4}}, nil, []float64{.5, .375}, []float64{1.5, 1.5}},
		{"cagrad", nil, base, nil, []float64{.704124, .5}, []float64{.183503, 1.204124, 1.204124}},
		{"cagrad", values{"divide": "1+c^2"}, base, nil, []float64{.704124 / 1.25, .4}, []float64{.1468024, .9632992, .9632992}},
		{"nash-mtl", values{"max_norm": inf}, base, nil, []float64{.591461, .407071}, []float64{.076584, .998533, .998533}},
		{"nash-mtl", nil, base, nil, []float64{.591461 / math.Sqrt2, .407071 / math.Sqrt2}, []float64{.054153, .706069, .706069}},
		{"fairgrad", nil, base, nil, []float64{.591461, .407071}, []float64{.076584, .998533, .998533}},
		{"fairgrad", values{"alpha": 2}, base, nil, []float64{.471363, .319454}, nil},
		{"fairgrad", values{"alpha": .5}, base, nil, []float64{.742828, .525393}, nil},
		{"sdmgrad", nil, base, nil, []float64{.6, .4}, []float64{0, 1, 1}},
		{"pcgrad", nil, base, nil, []float64{2.222222, 1.578947}, []float64{.584795, 3.801170, 3.801170}},
		{"gradvac", nil, base, nil, []float64{2.222222, 1.578947}, []float64{.584795, 3.801170, 3.801170}},
		{"maxdo-minmax", nil, [][]float64{{3, 0}, {0, 4}}, nil, []float64{4. / 7, 3. / 7}, []float64{12. / 7, 12. / 7}},
		{"maxdo-minmax", nil, pair, nil, []float64{.585786, .414214}, nil},
		{"a-gem", nil, pair, nil, []float64{1, 1}, []float64{1, 1}},
		{"a-gem", nil, [][]float64{{6, 1, 1}, {-4, 1, 1}}, nil, []float64{.578947, 1}, []float64{-.526316, 1.578947, 1.578947}},
		{"mega-1", nil, pair, []float64{.5, 2}, []float64{.25, 1}, []float64{1.75, .25}},
		{"mega-release", nil, pair, []float64{.5, 2}, []float64{1, .25}, []float64{-.5, 1}},
		{"mega-2", nil, pair, []float64{.5, 2}, []float64{.419902, 1.187663}, []float64{1.955424, .419902}},
		{"gls", nil, base, []float64{4, 1}, []float64{.25, 1}, nil},
		{"stch", nil, base, []float64{1 + math.Log(3), 1}, []float64{.75, .25}, nil},
		{"uw", nil, base, []float64{1, 2}, []float64{.5, .5}, nil},
		{"constant", values{"memory": 3, "task": .5}, three, nil, []float64{3, .5, .5}, nil},
		{"cr-mogm", values{"method": "mgda"}, base, nil, []float64{.6, .4}, []float64{0, 1, 1}},
	} {
		w := weigh(t, build(t, c.method, c.params), sample{rows: c.rows, losses: c.losses}.step(1))
		if d := direction(c.rows, w); !near(w, c.w, 2e-6) || c.d != nil && !near(d, c.d, 2e-6) {
			t.Errorf("%s %v on %v: w = %.6f, d = %.6f; want %v, %v", c.method, c.params, c.rows, w, d, c.w, c.d)
		}
	}
}

func TestGradNormSteps(t *testing.T) {
	m := build(t, "gradnorm", values{"lr": .1})
	s := sample{rows: [][]float64{{1, 0}, {0, 2}}, losses: []float64{1, 1}}.step(1)
	if w := weigh(t, m, s); !near(w, []float64{1, 1}, 0) {
		t.Errorf("first step: %v, want ones", w)
	}
	if w := weigh(t, m, s); !near(w, []float64{1.157895, .842105}, 1e-6) {
		t.Errorf("second step: %.6f, want 1.157895 0.842105", w)
	}
	// Stream 7 joins with weight 1, and all three are brought to a sum of 3.
	m = build(t, "gradnorm", values{"lr": .1})
	weigh(t, m, s)
	s = sample{rows: [][]float64{{1, 0}, {0, 2}, {1, 1}}, losses: []float64{1, 1, 5}}.step(1)
	s.IDs[2] = 7
	if w := weigh(t, m, s); !near(w, []float64{1.157895, .842105, 1}, 1e-6) {
		t.Errorf("a stream joins: %.6f", w)
	}
}

// TestGradNormRefreshesTheMemory: after a task ends, the memory's loss is compared with its next one,
// so that a jump of it is no sign of slow training; without an end it is, and its weight grows.
func TestGradNormRefreshesTheMemory(t *testing.T) {
	third := func(end bool) float64 {
		m := stateful(t, build(t, "gradnorm", nil))
		s := sample{rows: [][]float64{{1, 0}, {0, 1}}, losses: []float64{1, 1}}.step(1)
		weigh(t, m, s)
		if end {
			m.End(9)
		}
		s.Losses = []float64{100, 1}
		weigh(t, m, s)
		return weigh(t, m, s)[0]
	}
	if ended, on := third(true), third(false); ended != 1 || !(on > 1.01) {
		t.Errorf("memory weight %g after a refresh, want 1; %g without, want more", ended, on)
	}
}

func TestDWASteps(t *testing.T) {
	m := build(t, "dwa", values{"momentum": 0})
	for i, losses := range [][]float64{{1, 1}, {1, .5}, {9, 9}} {
		want := []float64{1, 1}
		if i == 2 {
			want = []float64{1.124353, .875647}
		}
		if w := weigh(t, m, sample{rows: base, losses: losses}.step(1)); !near(w, want, 1e-6) {
			t.Errorf("step %d: %.6f, want %v", i, w, want)
		}
	}
}

func TestIMTLLSteps(t *testing.T) {
	m := build(t, "imtl-l", nil)
	s := sample{rows: base, losses: []float64{2, 1}}.step(1)
	if w := weigh(t, m, s); !near(w, []float64{1, 1}, 0) {
		t.Errorf("first step: %v, want ones", w)
	}
	if w := weigh(t, m, s); !near(w, []float64{math.Exp(-.1), 1}, 1e-14) {
		t.Errorf("second step: %v, want exp(−0.1) and 1", w)
	}
	for range 2000 {
		weigh(t, m, s)
	}
	if w := weigh(t, m, s); !near(w, []float64{.5, 1}, 1e-9) {
		t.Errorf("at rest: %v, want 1/ℓ", w)
	}
	if w := weigh(t, build(t, "imtl-l", values{"init": "loss"}), s); !near(w, []float64{.5, 1}, 1e-14) {
		t.Errorf("init=loss: %v, want 1/ℓ", w)
	}
}

// TestUWRest: at rest exp(−s)ℓ = 1, so the weight is 1/2ℓ.
func TestUWRest(t *testing.T) {
	m, s := build(t, "uw", nil), sample{rows: base, losses: []float64{2, .25}}.step(1)
	for range 2000 {
		weigh(t, m, s)
	}
	if w := weigh(t, m, s); !near(w, []float64{.25, 2}, 1e-9) {
		t.Errorf("%v, want 1/2ℓ", w)
	}
}

func TestRLW(t *testing.T) {
	for _, distribution := range []string{"normal", "uniform"} {
		m, r := build(t, "rlw", values{"distribution": distribution}), rand.New(rand.NewPCG(1, 1))
		mean := make([]float64, 3)
		for range 20000 {
			w := make([]float64, 3)
			if _, err := m.Weights(&Step{IDs: []int{0, 1, 2}, Rand: r}, w); err != nil {
				t.Fatal(err)
			}
			add(mean, 1./20000, w)
		}
		if !near(mean, []float64{1. / 3, 1. / 3, 1. / 3}, .03) {
			t.Errorf("%s: mean weights %v, want thirds", distribution, mean)
		}
	}
}

// TestOneMemoryRow: rules that weigh the tasks against one row of the memory take no further one for a task.
func TestOneMemoryRow(t *testing.T) {
	s := sample{rows: base, losses: []float64{1, 2}}.step(1)
	for _, ids := range [][]int{{-1, 1}, {Memory, -1}} {
		for _, name := range []string{"a-gem", "er", "mega-1", "mega-2", "mega-release"} {
			s.IDs = ids
			if _, err := build(t, name, nil).Weights(s, make([]float64, 2)); err == nil {
				t.Errorf("%s with the ids %v: no error", name, ids)
			}
		}
	}
}

// TestGLSLeavesOut a stream without loss, and knows the smallest losses.
func TestGLSLeavesOut(t *testing.T) {
	out, err := build(t, "gls", nil).Weights(sample{rows: base, losses: []float64{0, 2}}.step(1), make([]float64, 2))
	if err != nil || !slices.Equal(out.Dropped, []int{0}) {
		t.Errorf("gls beside a loss of 0: dropped %v (%v)", out.Dropped, err)
	}
	w := weigh(t, build(t, "gls", nil), sample{rows: base, losses: []float64{0x1p-1040, 0x1p-1042}}.step(1))
	if !near(w, []float64{.25, 1}, 1e-12) {
		t.Errorf("gls with very small losses: %v, want ¼ and 1", w)
	}
}
