package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/emgd"
)

// TestMEGALimits: the closed form is the best of a scan, and keeps the length.
func TestMEGALimits(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 300 {
		s := sample{rows: gaussian(r, 2, 4), losses: []float64{r.ExpFloat64(), r.ExpFloat64()}}
		d := direction(s.rows, weigh(t, build(t, "mega-2", nil), s.step(1)))
		length, mem := math.Sqrt(inner(s.rows[1], s.rows[1])), math.Sqrt(inner(s.rows[0], s.rows[0]))
		if got := math.Sqrt(inner(d, d)); math.Abs(got-length) > 1e-9*length {
			t.Fatalf("‖d‖ = %g, ‖g_cur‖ = %g", got, length)
		}
		value := s.losses[1]*inner(d, s.rows[1])/length/length + s.losses[0]*inner(d, s.rows[0])/length/mem
		theta, best := math.Acos(inner(s.rows[0], s.rows[1])/length/mem), 0.0
		for i := range 2001 {
			beta := math.Pi / 2 * float64(i) / 2000
			best = max(best, s.losses[1]*math.Cos(beta)+s.losses[0]*math.Cos(theta-beta))
		}
		if value < best-1e-5 || value > best+1e-5 {
			t.Fatalf("objective %g, a scan finds %g", value, best)
		}
	}
}

// TestSerialMethodsMergeTasks: the tasks act as their mean, and without memory they are all there
// is.
func TestSerialMethodsMergeTasks(t *testing.T) {
	for _, name := range []string{"er", "a-gem", "mega-1", "mega-2"} {
		t.Run(name, func(t *testing.T) {
			m := build(t, name, nil)
			many := sample{rows: [][]float64{{-1, 1}, {3, 1}, {1, -1}}, losses: []float64{.5, 3, 1}}
			w, merged := weigh(t, m, many.step(1)), weigh(t, m, sample{rows: pair, losses: []float64{.5, 2}}.step(1))
			wants(t, w, []float64{merged[0], merged[1] / 2, merged[1] / 2}, 1e-14, "%s", name)
			s := many.step(1)
			s.IDs = []int{1, 2, 3}
			wants(t, weigh(t, m, s), []float64{1. / 3, 1. / 3, 1. / 3}, 1e-15, "%s without memory", name)
		})
	}
}

func TestLimitsTier1(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	same := func(what string, rows [][]float64, a, b []float64, tol float64) {
		t.Helper()
		if da, db := direction(rows, a), direction(rows, b); !near(da, db, tol) {
			t.Errorf("%s: d = %v and %v", what, da, db)
		}
	}
	for range 300 {
		k := 2 + r.IntN(6)
		s := sample{rows: gaussian(r, k, k+2)}
		get := func(name string, p values) []float64 { return weigh(t, build(t, name, p), s.step(1)) }
		avg, mgda := get("avggrad", nil), get("mgda", nil)
		same("cagrad c=0 and avggrad", s.rows, get("cagrad", values{"c": 0}), avg, 1e-12)
		same("sdmgrad λ=0 and mgda", s.rows, get("sdmgrad", values{"lambda": 0}), mgda, 1e-9)
		same("sdmgrad λ=1e6 and avggrad", s.rows, get("sdmgrad", values{"lambda": 1e6}), avg, 2e-5)
		same("fairgrad α=1 and nash", s.rows, get("fairgrad", nil), get("nash-mtl", values{"max_norm": math.Inf(1)}), 1e-9)
		cold := get("cagrad", values{"c": 1e6})
		same("cagrad c→∞ and the direction of mgda", s.rows, unit(s.rows, cold), unit(s.rows, mgda), 1e-4)
		fair := get("fairgrad", values{"alpha": 10})
		if spread(s, fair) > spread(s, get("fairgrad", nil)) {
			t.Errorf("fairgrad: α = 10 shares less equally than α = 1")
		}
		l2 := get("mgda", values{"norm": "l2"})
		if slices.Min(l2) > 1e-9 {
			same("interior MGDA(l2) and imtl-g", s.rows, unit(s.rows, l2), unit(s.rows, get("imtl-g", nil)), 1e-7)
			norms := make([]float64, k)
			for i := range norms {
				norms[i] = math.Sqrt(inner(s.rows[i], s.rows[i]))
			}
			toSum(norms, 1)
			same("EMGD with σ ∝ ‖J‖ and config", s.rows, forSigma(t, s.step(1), norms...), get("config", nil), 1e-7)
		}
		same("gradvac β=0 and pcgrad", s.rows, get("gradvac", values{"beta": 0}), get("pcgrad", nil), 1e-9)
		same("cr-mogm α=0 and upgrad", s.rows, get("cr-mogm", values{"method": "upgrad", "alpha": 0}),
			get("upgrad", nil), 1e-12)
		same("imtl and imtl-g on a first step", s.rows,
			weigh(t, build(t, "imtl", nil), sample{rows: s.rows, losses: make([]float64, k)}.step(1)), get("imtl-g", nil), 1e-12)
		equal := [][]float64{s.rows[0], s.rows[0]}
		same("maxdo with equal gradients and either", equal,
			weigh(t, build(t, "maxdo-minmax", nil), sample{rows: equal}.step(1)), []float64{1, 0}, 1e-12)

		// Without conflict: rows in the positive orthant.
		for _, row := range s.rows {
			for p := range row {
				row[p] = math.Abs(row[p])
			}
		}
		same("pcgrad without conflict and sum", s.rows, get("pcgrad", nil), get("sum", nil), 1e-14)
		for _, name := range []string{"upgrad", "dualproj"} {
			same(name+" without conflict and avggrad", s.rows, get(name, nil), avg, 1e-12)
		}
		s.rows = gaussian(r, 2, 5)
		same("EMGD one-hot and a-gem", s.rows, forSigma(t, s.step(1), 0, 1), get("a-gem", nil), 1e-9)
		a, b := math.Sqrt(inner(s.rows[0], s.rows[0])), math.Sqrt(inner(s.rows[1], s.rows[1]))
		wants(t, get("maxdo-minmax", nil), []float64{b / (a + b), a / (a + b)}, 1e-7, "maxdo-minmax of two")
		scaled(s.rows[1:], a/b)
		wants(t, get("maxdo-minmax", nil), []float64{.5, .5}, 1e-7, "maxdo-minmax of two equal lengths")
	}
}

// unit scales weights to ‖d‖ = 1.
func unit(rows [][]float64, w []float64) []float64 {
	n := normOf(gramOf(rows), w)
	return scaled([][]float64{slices.Clone(w)}, 1/n)[0]
}

// spread is how much Jᵢ·d differs between the streams, relative to its largest value.
func spread(s sample, w []float64) float64 {
	gain := times(gramOf(s.rows), w)
	return 1 - slices.Min(gain)/slices.Max(gain)
}

// TestAlignedMayConflict: Jd = √λ·M^½·1/K may have a negative entry, here for two gradients.
func TestAlignedMayConflict(t *testing.T) {
	root := [][]float64{{.1, -.9}, {-.9, 10}} // rows of M^½, which are gradients with that M
	s := sample{rows: root}.step(1)
	gain := times(s.Gram, weigh(t, build(t, "aligned-mtl", nil), s))
	if want := []float64{-.8, 9.1}; !near(unitVector(gain), unitVector(want), 1e-9) {
		t.Errorf("Jd = %v, want it along %v", gain, want)
	}
}

func unitVector(v []float64) []float64 {
	return scaled([][]float64{slices.Clone(v)}, 1/math.Sqrt(inner(v, v)))[0]
}

// TestIMTLGTurnsRound: a short gradient that needs a negative weight turns the published form
// round; ConFIG stays.
func TestIMTLGTurnsRound(t *testing.T) {
	rows := [][]float64{{1, 0, 0}, {.5, .866, 0}, {.0085, .005, .001}}
	for name, sign := range map[string]float64{"imtl-g": -1, "imtl": -1, "config": 1} {
		t.Run(name, func(t *testing.T) {
			w := weigh(t, build(t, name, nil), sample{rows: rows, losses: []float64{1, 1, 1}}.step(1))
			d := direction(rows, w)
			for i, row := range rows {
				if sign*inner(row, d) <= 0 {
					t.Errorf("J·d of row %d is %g", i, inner(row, d))
				}
			}
		})
	}
}

// TestNoBargain: with 0 in the hull, Nash-MTL and FairGrad stay and say so.
func TestNoBargain(t *testing.T) {
	for _, name := range []string{"nash-mtl", "fairgrad"} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"opposites", "strongly stationary", "weakly stationary"} {
				for _, z := range zoo(kind) {
					if len(z.rows) == 1 {
						continue // a single row is not what the kind's name says
					}
					w := make([]float64, len(z.rows))
					out, err := build(t, name, nil).Weights(z.step(1), w)
					switch {
					case err != nil:
						t.Errorf("%s, %s: %v", name, z.name, err)
					case out.Certificate == nil:
						t.Errorf("%s, %s: out.Certificate is nil", name, z.name)
					case out.Certificate.Status != emgd.Stationary:
						t.Errorf("%s, %s: out.Certificate.Status is %v; want %v", name, z.name, out.Certificate.Status, emgd.Stationary)
					}
				}
			}
		})
	}
}
