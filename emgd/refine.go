package emgd

import "math"

// refine improves ν where weights much larger than d cancel in it, and recomputes g, κ and ‖d‖²,
// with sums in twice the precision of float64: ‖d‖² = νᵀCν loses a part (Σν)²/‖d‖² of its digits
// otherwise. It does nothing where the plain sums are good to ten digits and no better C is known.
func (w *activeSet) refine() {
	size := w.size()
	if w.vanishes() || len(w.lo) == 0 && eps*size*size <= enough*math.Sqrt(w.norm2) {
		return
	}
	for range 6 {
		for _, i := range w.support {
			w.g[i] = w.gain(i).hi
		}
		w.face.correct(w)
		if !w.improve() {
			break
		}
	}
	norm2 := doubleDouble{}
	for i := range w.g {
		g := w.gain(i)
		w.g[i] = g.hi
		norm2 = norm2.addProduct(w.nu[i], g.hi).addProduct(w.nu[i], g.lo)
		if w.shifted {
			norm2 = norm2.addProduct(w.least[i], g.hi).addProduct(w.least[i], g.lo)
		}
	}
	w.norm2, w.kappa = norm2.hi, norm2.hi
	if w.shifted {
		w.shiftedMultiplier()
	}
}

// cancels says whether weights larger than d cancel in it so far that ‖d‖² has less than ten
// digits.
func (w *activeSet) cancels() bool {
	size := w.size()
	return eps*size*size > enough*w.norm2
}

const eps, enough = 0x1p-52, 1e-11

// improve adds the correction in w.x to ν and reports whether another may help. A correction that
// would leave ν ≥ 0 or is larger than ν itself is not made: the face's matrix is then too close to
// singular to say more.
func (w *activeSet) improve() bool {
	top, change := 0.0, 0.0
	for k, i := range w.support {
		top = max(top, w.nu[i])
		change = max(change, math.Abs(w.x[k]))
		if !(w.nu[i]+w.x[k] >= 0) {
			return false
		}
	}
	if change > 2*top {
		return false
	}
	for k, i := range w.support {
		w.nu[i] += w.x[k]
	}
	return change > 1e-15*top
}

// gain returns (Cν+q)_i.
func (w *activeSet) gain(i int) doubleDouble {
	sum := doubleDouble{}
	if w.shifted {
		for j, f := range w.least {
			sum = sum.addProduct(w.c[i*w.n+j], f)
		}
	}
	for _, j := range w.support {
		sum = sum.addProduct(w.c[i*w.n+j], w.nu[j])
	}
	if len(w.lo) > 0 {
		for _, j := range w.support {
			sum = sum.addProduct(w.lo[i*w.n+j], w.nu[j])
		}
		for j, f := range w.least {
			if w.shifted {
				sum = sum.addProduct(w.lo[i*w.n+j], f)
			}
		}
	}
	return sum
}

// correct writes to w.x the change of ν on the support that makes g proportional to s there.
func (f *face) correct(w *activeSet) {
	e := w.support[0]
	ge := w.g[e]
	for k := 1; k < f.r; k++ {
		v := f.t[k]*ge - w.g[w.support[k]]
		for m, a := range f.l[k*f.n+1 : k*f.n+k] {
			v -= a * w.x[m+1]
		}
		w.x[k] = v * f.inv[k]
	}
	f.backward(w.x)
	sum, change := doubleDouble{-w.tau, 0}, 0.0
	for k, i := range w.support {
		sum = sum.addProduct(w.s[i], w.nu[i])
		if k > 0 {
			change += f.t[k] * w.x[k]
		}
	}
	w.x[0] = -change - sum.hi/w.s[e]
}

// doubleDouble is an unevaluated sum hi + lo with |lo| at most half an ulp of hi.
type doubleDouble struct{ hi, lo float64 }

// addProduct adds x·y.
func (a doubleDouble) addProduct(x, y float64) doubleDouble {
	p := x * y
	err := math.FMA(x, y, -p)
	s := a.hi + p
	b := s - a.hi
	err += (a.hi - (s - b)) + (p - b) + a.lo
	t := s + err
	return doubleDouble{t, err - (t - s)}
}
