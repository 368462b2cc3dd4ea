package sample

import (
	"math"

	"github.com/parallelcl/parallelcl/viz"
)

// Traces returns the descents of five methods on the toy functions with the closed forms for two
// gradients, 1,500 steps from (3, 3) with a step size of 2e-5.
func Traces() []viz.Trace {
	uniform := func([2]float64) [2]float64 { return [2]float64{0.5, 0.5} }
	return []viz.Trace{
		descend("avggrad", "AvgGrad", func(*[3]float64, [2]float64) [2]float64 { return [2]float64{0.5, 0.5} }),
		descend("sum", "Sum", func(*[3]float64, [2]float64) [2]float64 { return [2]float64{1, 1} }),
		descend("mgda", "MGDA", func(m *[3]float64, _ [2]float64) [2]float64 { return pair(m, [2]float64{1, 1}) }),
		descend("emgd-gs", "EMGD (GS)", func(m *[3]float64, n [2]float64) [2]float64 { return pair(m, uniform(n)) }),
		descend("emgd-gmc", "EMGD (GMC)", func(m *[3]float64, n [2]float64) [2]float64 {
			a, b := math.Exp(n[0]/5), math.Exp(n[1]/5)
			return pair(m, [2]float64{a / (a + b), b / (a + b)})
		}),
	}
}

// pair solves min ‖λ₁J₁+λ₂J₂‖² with Σλσ = 1, λ ≥ 0 for the Gram entries m = (M₁₁, M₁₂, M₂₂).
func pair(m *[3]float64, s [2]float64) [2]float64 {
	a, b := s[0]*m[2]-s[1]*m[1], s[1]*m[0]-s[0]*m[1]
	switch {
	case a <= 0:
		return [2]float64{0, 1 / s[1]}
	case b <= 0:
		return [2]float64{1 / s[0], 0}
	}
	sum := s[0]*a + s[1]*b
	return [2]float64{a / sum, b / sum}
}

func descend(method, label string, rule func(m *[3]float64, norms [2]float64) [2]float64) viz.Trace {
	const steps, arrival, rate = 1500, 500, 2e-5
	tr := viz.Trace{Method: method, Label: label, Arrival: arrival, LR: rate}
	x, y := 3.0, 3.0
	var averaged [2]float64
	for step := 0; ; step++ {
		f1, g1, f2, g2 := functions(x, y)
		tr.X, tr.Y = append(tr.X, x), append(tr.Y, y)
		tr.F1, tr.F2 = append(tr.F1, f1), append(tr.F2, f2)
		if step == steps {
			return tr
		}
		norms := [2]float64{math.Hypot(g1[0], g1[1]), math.Hypot(g2[0], g2[1])}
		for i, n := range norms {
			if averaged[i] == 0 || i == 1 && step == arrival {
				averaged[i] = n
			}
			averaged[i] = 0.9*averaged[i] + 0.1*n
		}
		w := [2]float64{1, 0}
		if step >= arrival {
			w = rule(&[3]float64{norms[0] * norms[0], g1[0]*g2[0] + g1[1]*g2[1], norms[1] * norms[1]}, averaged)
		}
		x -= rate * (w[0]*g1[0] + w[1]*g2[0])
		y -= rate * (w[0]*g1[1] + w[1]*g2[1])
	}
}

// functions returns the two functions of the paper's Fig. 2 and their gradients.
func functions(x, y float64) (f1 float64, g1 [2]float64, f2 float64, g2 [2]float64) {
	r := 1 - math.Exp(x)*math.Sin(y)
	s := 0.1 + math.Exp(y)*math.Cos(x)
	f1 = math.Log(1+x*x) + 0.8*r*r
	f2 = math.Log(1+y*y) + 0.004*s*s
	g1 = [2]float64{2*x/(1+x*x) - 1.6*r*math.Exp(x)*math.Sin(y), -1.6 * r * math.Exp(x) * math.Cos(y)}
	g2 = [2]float64{-0.008 * s * math.Exp(y) * math.Sin(x), 2*y/(1+y*y) + 0.008*s*math.Exp(y)*math.Cos(x)}
	return f1, g1, f2, g2
}
