package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOracles: the worked examples of docs/method.md §9, and those of the rules that came later.
func TestOracles(t *testing.T) {
	inf := math.Inf(1)
	line := [][]float64{{0}, {1}, {1.5}, {10}, {2.2}} // squared distances to the two nearest: 3.25 1.25 .74 … 1.93
	ofBase := -22 / math.Sqrt(18*38)                  // its cosine
	long, legs, turn := [][]float64{{3, 0}, {0, 1e-3}}, [][]float64{{3, 0}, {0, 4}}, [][]float64{{0, 1}, {2, 0}}
	cos := func(c float64) [][]float64 { return [][]float64{{1, 0}, {c, math.Sqrt(1 - c*c)}} }
	part, half := .65*math.Sin(1.25*math.Pi/2), .25*math.Sqrt2/2
	for _, c := range []struct {
		method string
		params values
		rows   [][]float64
		losses []float64
		w, d   []float64
	}{
		{"avggrad", nil, base, nil, []float64{.5, .5}, []float64{1, 1, 1}},
		{"avggrad", nil, pair, nil, []float64{.5, .5}, []float64{.5, .5}},
		{"sum", nil, base, nil, []float64{1, 1}, []float64{2, 2, 2}},
		{"er", nil, pair, nil, []float64{.5, .5}, []float64{.5, .5}},
		{"er", nil, three, nil, []float64{.5, .25, .25}, []float64{1, 1, .25}},
		{"mgda", nil, base, nil, []float64{.6, .4}, []float64{0, 1, 1}},
		{"mgda", nil, three, nil, []float64{.8, .2, 0}, []float64{.8, .4, 0}},
		{"mgda", nil, pair, nil, []float64{.6, .4}, []float64{.2, .6}},
		{"emgd-gmc", values{"tau": "inf"}, base, nil, []float64{1.2, .8}, []float64{0, 2, 2}},
		{"emgd-gmc", nil, base, nil, []float64{1.227128, .845351}, []float64{.163592, 2.072479, 2.072479}},
		{"emgd-gmc", values{"tau": 1}, base, nil, []float64{1.251119, .963249}, []float64{.775018, 2.214369, 2.214369}},
		{"emgd-gmc", values{"floor": "release"}, base, nil, []float64{1.227128, .845351},
			[]float64{.163592, 2.072479, 2.072479}},
		{"emgd-gmc", nil, three, nil, []float64{2.704549, .825836, 0}, []float64{2.704549, 1.651672, 0}},
		{"emgd-gmc", values{"floor": "release"}, three, nil, []float64{2.519486, .672002, .25},
			[]float64{3.019486, 1.844004, .25}},
		{"emgd-gmc", values{"floor": "0.25"}, three, nil, []float64{2.519486, .672002, .25},
			[]float64{3.019486, 1.844004, .25}},
		{"emgd-gs", values{"tau": 1}, base, nil, []float64{1.2, .8}, []float64{0, 2, 2}},
		{"emgd-gs", values{"tau": 1}, three, nil, []float64{3.158187, .789547, 0}, []float64{3.158187, 1.579094, 0}},
		{"imtl-g", nil, base, nil, []float64{.592330, .407670}, []float64{.076697, 1, 1}},
		{"config", nil, base, nil, []float64{1.226483, .844124}, []float64{.158809, 2.070607, 2.070607}},
		{"aligned-mtl", nil, base, nil, []float64{.559072, .408261}, []float64{.213279, .967333, .967333}},
		{"dualproj", nil, base, nil, []float64{.611111, .5}, []float64{.555556, 1.111111, 1.111111}},
		{"upgrad", nil, base, nil, []float64{1.111111, .789474}, []float64{.292398, 1.900585, 1.900585}},
		// √12.5/2
		{"aligned-mtl", values{"scale": "rmse"}, [][]float64{{3, 0}, {0, 4}}, nil, []float64{.589256, .441942},
			[]float64{1.767767, 1.767767}},
		{"aligned-mtl", values{"scale": "median"}, [][]float64{{3, 0}, {0, 4}}, nil, []float64{.5, .375},
			[]float64{1.5, 1.5}},
		{"cagrad", nil, base, nil, []float64{.704124, .5}, []float64{.183503, 1.204124, 1.204124}},
		{"cagrad", values{"divide": "1+c^2"}, base, nil, []float64{.704124 / 1.25, .4},
			[]float64{.1468024, .9632992, .9632992}},
		{"nash-mtl", values{"max_norm": inf}, base, nil, []float64{.591461, .407071}, []float64{.076584, .998533, .998533}},
		{"nash-mtl", nil, base, nil, []float64{.591461 / math.Sqrt2, .407071 / math.Sqrt2},
			[]float64{.054153, .706069, .706069}},
		{"fairgrad", nil, base, nil, []float64{.591461, .407071}, []float64{.076584, .998533, .998533}},
		{"fairgrad", values{"alpha": 2}, base, nil, []float64{.471363, .319454}, nil},
		{"fairgrad", values{"alpha": .5}, base, nil, []float64{.742828, .525393}, nil},
		{"sdmgrad", nil, base, nil, []float64{.6, .4}, []float64{0, 1, 1}},
		{"pcgrad", nil, base, nil, []float64{2.222222, 1.578947}, []float64{.584795, 3.801170, 3.801170}},
		{"gradvac", nil, base, nil, []float64{2.222222, 1.578947}, []float64{.584795, 3.801170, 3.801170}},
		{"maxdo-minmax", nil, [][]float64{{3, 0}, {0, 4}}, nil, []float64{4. / 7, 3. / 7}, []float64{12. / 7, 12. / 7}},
		{"maxdo-minmax", nil, pair, nil, []float64{.585786, .414214}, nil},
		{"a-gem", nil, pair, nil, []float64{1, 1}, []float64{1, 1}},
		{"a-gem", nil, [][]float64{{6, 1, 1}, {-4, 1, 1}}, nil, []float64{.578947, 1},
			[]float64{-.526316, 1.578947, 1.578947}},
		{"mega-1", nil, pair, []float64{.5, 2}, []float64{.25, 1}, []float64{1.75, .25}},
		{"mega-release", nil, pair, []float64{.5, 2}, []float64{1, .25}, []float64{-.5, 1}},
		{"mega-2", nil, pair, []float64{.5, 2}, []float64{.419902, 1.187663}, []float64{1.955424, .419902}},
		{"mega-1", nil, pair, []float64{0, 1}, []float64{0, 1}, nil}, // without loss in memory
		{"mega-2", nil, pair, []float64{0, 1}, []float64{0, 1}, nil},
		{"mega-1", nil, turn, []float64{1, 0}, []float64{1, 0}, nil}, // with nothing left to learn
		{"mega-release", nil, turn, []float64{1, 0}, []float64{0, 1}, nil},
		// by the whole right angle onto g_mem, which is half as long
		{"mega-2", nil, turn, []float64{1, 0}, []float64{2, 0}, nil},
		{"mgda", values{"norm": "none"}, legs, []float64{2, 1}, nil, []float64{3 * 16. / 25, 4 * 9. / 25}},
		{"mgda", values{"norm": "l2"}, legs, []float64{2, 1}, nil, []float64{.5, .5}},
		{"mgda", values{"norm": "loss"}, legs, []float64{2, 1}, nil, []float64{96. / 73, 36. / 73}}, // (1.5, 0) and (0, 4)
		{"mgda", values{"norm": "loss+"}, legs, []float64{2, 1}, nil, []float64{.4, .2}},            // (½, 0) and (0, 1)
		{"gls", nil, base, []float64{0x1p-1040, 0x1p-1042}, []float64{.25, 1}, nil},
		{"gls", nil, base, []float64{4, 1}, []float64{.25, 1}, nil},
		{"stch", nil, base, []float64{1 + math.Log(3), 1}, []float64{.75, .25}, nil},
		{"uw", nil, base, []float64{1, 2}, []float64{.5, .5}, nil},
		{"constant", values{"memory": 3, "task": .5}, three, nil, []float64{3, .5, .5}, nil},
		{"cr-mogm", values{"method": "mgda"}, base, nil, []float64{.6, .4}, []float64{0, 1, 1}},
		{"capped-mgda", values{"cap": 1}, base, nil, []float64{.6, .4}, nil},
		{"capped-mgda", values{"cap": .55}, base, nil, []float64{.55, .45}, nil},
		{"capped-mgda", values{"cap": .1}, base, nil, []float64{.5, .5}, nil},
		{"capped-mgda", values{"cap": 1}, three, nil, []float64{.8, .2, 0}, nil},
		{"capped-mgda", nil, three, nil, []float64{.5, .5, 0}, nil},
		{"capped-mgda", values{"cap": .4}, three, nil, []float64{.4, .4, .2}, nil},
		{"capped-mgda", values{"cap": .3}, three, nil, []float64{1. / 3, 1. / 3, 1. / 3}, nil},
		{"graddrop", values{"leak": 1}, base, nil, []float64{1, 1}, []float64{2, 2, 2}},
		{"krum", nil, line, nil, []float64{0, 0, 1, 0, 0}, []float64{1.5}},
		{"krum", values{"selected": 3}, line, nil, []float64{0, 1. / 3, 1. / 3, 0, 1. / 3}, nil},
		{"krum", values{"selected": 9}, line, nil, []float64{.2, .2, .2, .2, .2}, nil},
		// alone with its neighbour 1.5: the smaller id
		{"krum", values{"byzantine": 2}, line, nil, []float64{0, 1, 0, 0, 0}, nil},
		{"krum", values{"byzantine": 3}, line, nil, []float64{.2, .2, .2, .2, .2}, []float64{2.94}},
		{"krum", nil, three, nil, []float64{1. / 3, 1. / 3, 1. / 3}, []float64{1, 4. / 3, 1. / 3}},
		{"trimmed-mean", nil, line, nil, []float64{.2, .2, .2, .2, .2}, []float64{4.7 / 3}},
		{"trimmed-mean", values{"trim": 9}, line, nil, nil, []float64{1.5}},
		{"trimmed-mean", nil, three, nil, nil, []float64{1, 2, 0}},
		{"trimmed-mean", nil, base, nil, []float64{.5, .5}, []float64{1, 1, 1}},
		{"trimmed-mean", values{"trim": 0}, three, nil, nil, []float64{1, 4. / 3, 1. / 3}},
		{"modo", values{"gamma": .1}, pair, nil, []float64{.55, .45}, nil}, // λ − γ(Mλ + ρλ) = .495 .395
		{"modo", values{"gamma": 100}, pair, nil, []float64{1, 0}, nil},
		{"moco", values{"gamma": .01}, base, nil, []float64{.55, .45}, []float64{.5, 1, 1}}, // λ − γMλ = .52 .42
		{"moco", values{"norm": "loss", "gamma": .1}, [][]float64{{3, 0}, {0, 5}}, []float64{2, 1}, []float64{.425, .575},
			[]float64{.85, .575}},
		{"excess-mtl", nil, base, nil, []float64{.5, .5}, []float64{1, 1, 1}},
		{"db-mtl", nil, [][]float64{{3, 4}, {0, 2}}, []float64{1, 2}, []float64{.1, .25}, []float64{.3, .9}},
		{"pcd", nil, base, nil, nil, []float64{-4*pcdBase(ofBase) + 6*pcdOther(ofBase), pcdBase(ofBase) + pcdOther(ofBase),
			pcdBase(ofBase) + pcdOther(ofBase)}},
		{"pcd", values{"primary": "last"}, three, nil, []float64{0, 0, 1}, []float64{2, 2, 1}},
		// no d helps both others
		{"pcd", values{"tau": .5}, [][]float64{{1, 1}, {0, 3}, {0, -2}}, nil, []float64{1, 0, 0}, []float64{1, 1}},
		{"pcd", nil, [][]float64{{0, 0}, {0, 3}, {1, 0}}, nil, []float64{0, .99980004, .05999}, nil},
		{"pcd", values{"tau": 0}, [][]float64{{2, 0}, {-1, 0}}, nil, []float64{0, 0}, []float64{0, 0}},
		{"pbi", nil, base, []float64{1, 3}, []float64{-4 / math.Sqrt2, 6 / math.Sqrt2}, nil},
		{"pbi", nil, base, []float64{2, 2}, []float64{1 / math.Sqrt2, 1 / math.Sqrt2}, nil},
		{"cosmos", values{"lambda": 5}, base, []float64{3, 4}, []float64{.5 - 5*math.Sqrt2/2*.032, .5 + 5*math.Sqrt2/2*.024},
			nil},
		{"cosmos", nil, base, []float64{0, 0}, []float64{.5, .5}, nil},
		{"dibs-mtl", nil, [][]float64{{3, 4}, {0, -2}}, nil, []float64{.2, .5}, []float64{.6, -.2}},
		{"ntkmtl", nil, [][]float64{{1, 0}, {0, 7}}, nil, []float64{5, 5. / 7}, []float64{5, 5}},
		{"ntkmtl", values{"exponent": 1}, [][]float64{{1, 0}, {0, 7}}, nil, []float64{25, 25. / 49}, nil},
		{"ntkmtl", values{"exponent": 0}, base, nil, []float64{1, 1}, nil},
		{"ldc-mtl", nil, base, []float64{2, 2}, []float64{.5, .5}, nil},
		{"ldc-mtl", values{"lambda": 0}, base, []float64{1, 9}, []float64{.5, .5}, nil},
		{"ldc-mtl", values{"lambda": .5}, three, []float64{1, 3, 2},
			[]float64{1./3 - .5*sigmoid(1), 1./3 + sigmoid(1), 1./3 - .5*sigmoid(1)}, nil},
		// On a first step m̂ = J, and with lengths alike h is 1e-8 of 1−β₂: d = Σ |J|⊙J·10³.
		{"sam-gs", nil, cos(0), nil, nil, []float64{1e3 / (1 + 1e-5), 1e3 / (1 + 1e-5)}},
		{"sam-gs", nil, long, nil, []float64{1.0005 / 2 * 1.0003332, 1500.5}, []float64{1.5005, 1.5005}},
		// Its weights are those of a projection: whole of the loser, in part of the winner.
		{"gcond", nil, [][]float64{{1, 2}, {2, 1}}, nil, []float64{1, 1}, []float64{3, 3}},
		{"gcond", nil, base, nil, []float64{1 + 22./18, 1}, nil},       // critical
		{"gcond", nil, cos(-.65), nil, []float64{1.65, 1 + part}, nil}, // half of the way to it
		// the same, on a straight line
		{"gcond", values{"power": 1}, cos(-.65), nil, []float64{1.65, 1 + .65*math.Sqrt2/2}, nil},
		{"gcond", nil, cos(-.25), nil, []float64{1 + half, 1 + half}, nil},                   // weak
		{"gcond", nil, [][]float64{{1, 1}, {-2, -2}}, nil, []float64{3, 1}, []float64{1, 1}}, // nothing is left of the loser
	} {
		t.Run(c.method, func(t *testing.T) {
			w, d := act(t, build(t, c.method, c.params), sample{rows: c.rows, losses: c.losses}.step(1))
			if c.w != nil && !near(w, c.w, 2e-6) || c.d != nil && !near(d, c.d, 2e-6) {
				t.Errorf("%s %v on %v: w = %.6f, d = %.6f; want %v, %v", c.method, c.params, c.rows, w, d, c.w, c.d)
			}
		})
	}
}

func TestGradNormSteps(t *testing.T) {
	m := build(t, "gradnorm", values{"lr": .1})
	s := sample{rows: [][]float64{{1, 0}, {0, 2}}, losses: []float64{1, 1}}.step(1)
	wants(t, weigh(t, m, s), []float64{1, 1}, 0, "first step")
	wants(t, weigh(t, m, s), []float64{1.157895, .842105}, 1e-6, "second step")
	// Stream 7 joins with weight 1, and all three are brought to a sum of 3.
	m = build(t, "gradnorm", values{"lr": .1})
	weigh(t, m, s)
	s = sample{rows: [][]float64{{1, 0}, {0, 2}, {1, 1}}, losses: []float64{1, 1, 5}}.step(1)
	s.IDs[2] = 7
	wants(t, weigh(t, m, s), []float64{1.157895, .842105, 1}, 1e-6, "a stream joins")
}

// TestGradNormRefreshesTheMemory: after a task ends, the memory's loss is compared with its next
// one, so that a jump of it is no sign of slow training; without an end it is, and its weight
// grows.
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
		wants(t, weigh(t, m, sample{rows: base, losses: losses}.step(1)), want, 1e-6, "step %d", i)
	}
}

func TestIMTLLSteps(t *testing.T) {
	m := build(t, "imtl-l", nil)
	s := sample{rows: base, losses: []float64{2, 1}}.step(1)
	wants(t, weigh(t, m, s), []float64{1, 1}, 0, "first step")
	wants(t, weigh(t, m, s), []float64{math.Exp(-.1), 1}, 1e-14, "second step")
	for range 2000 {
		weigh(t, m, s)
	}
	wants(t, weigh(t, m, s), []float64{.5, 1}, 1e-9, "at rest")
	wants(t, weigh(t, build(t, "imtl-l", values{"init": "loss"}), s), []float64{.5, 1}, 1e-14, "init=loss")
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
		t.Run(distribution, func(t *testing.T) {
			m, r := build(t, "rlw", values{"distribution": distribution}), rand.New(rand.NewPCG(1, 1))
			mean := make([]float64, 3)
			for range 20000 {
				add(mean, 1./20000, weigh(t, m, &Step{IDs: []int{0, 1, 2}, Rand: r}))
			}
			wants(t, mean, []float64{1. / 3, 1. / 3, 1. / 3}, .03, "%s: mean weights", distribution)
		})
	}
}

// TestOneMemoryRow: rules that weigh the tasks against one row of the memory take no further one
// for a task.
func TestOneMemoryRow(t *testing.T) {
	s := sample{rows: base, losses: []float64{1, 2}}.step(1)
	for _, ids := range [][]int{{-1, 1}, {MemoryID, -1}} {
		for _, name := range []string{"a-gem", "er", "mega-1", "mega-2", "mega-release"} {
			s.IDs = ids
			if _, err := build(t, name, nil).Weights(s, make([]float64, 2)); err == nil {
				t.Errorf("%s with the ids %v: no error", name, ids)
			}
		}
	}
}

// TestGLSLeavesOut a stream without loss.
func TestGLSLeavesOut(t *testing.T) {
	_, out := outcome(t, build(t, "gls", nil), sample{rows: base, losses: []float64{0, 2}}.step(1))
	if !slices.Equal(out.Dropped, []int{0}) {
		t.Errorf("gls beside a loss of 0: dropped %v", out.Dropped)
	}
}
