package method

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestDroppedStreamsTier1(t *testing.T) {
	s := sample{rows: [][]float64{{1, 2}, {0, 0}, {3, 1}}, losses: []float64{1, 1, 1}}.step(1)
	s.IDs = []int{1, 4, 9}
	rest := sample{rows: [][]float64{{1, 2}, {3, 1}}, losses: []float64{1, 1}}.step(1)
	rest.IDs = []int{1, 9}
	for _, name := range []string{"imtl-g", "config", "aligned-mtl", "dualproj", "upgrad", "cagrad", "nash-mtl", "fairgrad", "sdmgrad", "maxdo-minmax", "maxdo-release", "pcgrad", "gradvac", "imtl"} {
		w := make([]float64, 3)
		out, err := build(t, name, nil).Weights(s, w)
		if err != nil || !slices.Equal(out.Dropped, []int{4}) || w[1] != 0 {
			t.Errorf("%s: dropped %v, weights %v (%v); want stream 4 dropped", name, out.Dropped, w, err)
		}
		if want := weigh(t, build(t, name, nil), rest); !near([]float64{w[0], w[2]}, want, 1e-12) {
			t.Errorf("%s: %v, without the stream %v", name, w, want)
		}
	}
	mem := sample{rows: [][]float64{{0, 0}, {1, 2}}, losses: []float64{1, 1}}.step(1)
	for _, name := range []string{"a-gem", "mega-2"} {
		w := make([]float64, 2)
		out, err := build(t, name, nil).Weights(mem, w)
		if err != nil || !slices.Equal(out.Dropped, []int{Memory}) || w[0] != 0 || w[1] != 1 {
			t.Errorf("%s beside a silent memory: dropped %v, weights %v (%v)", name, out.Dropped, w, err)
		}
	}
	out, err := build(t, "gls", nil).Weights(sample{rows: base, losses: []float64{0, 2}}.step(1), make([]float64, 2))
	if err != nil || !slices.Equal(out.Dropped, []int{0}) {
		t.Errorf("gls beside a loss of 0: dropped %v (%v)", out.Dropped, err)
	}
	w := weigh(t, build(t, "gls", nil), sample{rows: base, losses: []float64{0x1p-1040, 0x1p-1042}}.step(1))
	if !near(w, []float64{.25, 1}, 1e-12) {
		t.Errorf("gls with very small losses: %v, want ¼ and 1", w)
	}
}

// TestOneMemoryRow: rules that weigh the tasks against one row of the memory take no further one for a task.
func TestOneMemoryRow(t *testing.T) {
	s := sample{rows: base, losses: []float64{1, 2}}.step(1)
	for _, ids := range [][]int{{-1, 1}, {Memory, -1}} {
		for _, name := range []string{"a-gem", "er", "mega-1", "mega-2", "mega-release"} {
			s.IDs = ids
			if _, err := build(t, name, nil).Weights(s, make([]float64, 2)); err == nil || !strings.Contains(err.Error(), "further row of the memory") {
				t.Errorf("%s with the ids %v: %v", name, ids, err)
			}
		}
	}
}

func TestBadValuesTier1(t *testing.T) {
	for _, c := range []struct {
		method, param string
		value         any
	}{
		{"cagrad", "c", -1}, {"sdmgrad", "lambda", -1}, {"nash-mtl", "max_norm", 0}, {"fairgrad", "alpha", 0},
		{"gradnorm", "alpha", -1}, {"gradnorm", "lr", -1}, {"dwa", "temperature", 0}, {"dwa", "momentum", 1},
		{"imtl-l", "lr", 2}, {"imtl", "lr", -1}, {"uw", "lr", math.Inf(1)}, {"gradvac", "beta", 1.5}, {"mega-1", "eps", 0},
		{"mega-release", "eps", -1}, {"stch", "mu", 0}, {"constant", "task", math.Inf(1)}, {"cr-mogm", "alpha", 1},
		{"cr-mogm", "method", "cr-mogm"}, {"cr-mogm", "method", "nothing"},
	} {
		if _, err := New(c.method, map[string]any{c.param: c.value}); err == nil || !strings.Contains(err.Error(), c.param) {
			t.Errorf("%s %s=%v: error %v", c.method, c.param, c.value, err)
		}
	}
}

func TestBadInputTier1(t *testing.T) {
	for _, name := range Names() {
		m := build(t, name, nil)
		info := m.Info()
		if info.NeedsLosses && name != "mgda" {
			for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
				s := sample{rows: base, losses: []float64{1, bad}}.step(1)
				if _, err := try(m, s); err == nil || !strings.Contains(err.Error(), "stream 1") {
					t.Errorf("%s with a loss of %g: error %v, want one that names stream 1", name, bad, err)
				}
			}
		}
	}
}

// TestStateTier1: damaged values are refused, and what was restored is what was saved.
func TestStateTier1(t *testing.T) {
	for name, bad := range map[string]string{
		"gradnorm": `{"1":{"w":-1}}`, "dwa": `{"1":{"last":-1,"seen":2}}`, "imtl-l": `{"1":99}`, "imtl": `{"1":99}`,
		"uw": `{"1":-99}`, "gradvac": `{"1":{"2":7}}`, "cr-mogm": `{"weights":{"1":"x"}}`,
	} {
		m := stateful(t, build(t, name, nil))
		if err := m.UnmarshalState([]byte(bad)); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(name, "-l")) {
			t.Errorf("%s: state %s: error %v", name, bad, err)
		}
		if err := m.UnmarshalState([]byte("null")); err != nil {
			t.Errorf("%s: an empty state: %v", name, err)
		}
		weigh(t, m, sample{rows: base, losses: []float64{1, 1}}.step(1))
	}
}
