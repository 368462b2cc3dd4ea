package viz

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// closest is the smallest relative difference of two ends of an axis; ticks could not be told apart
// on a shorter one.
const closest = 1e-12

// settle makes the ends of an axis equal that differ by rounding only: gonum then makes room around
// them.
func settle(a *plot.Axis) {
	if a.Max > a.Min && !hasRoom(a.Min, a.Max) {
		a.Max = a.Min
	}
}

// hasRoom says whether an axis between two ends has room for ticks. Parts of the smallest numbers
// would be 0.
func hasRoom(lo, hi float64) bool {
	return hi-lo > 1e-300 && !(hi-lo <= closest*max(math.Abs(lo), math.Abs(hi)))
}

// Ticks places about N ticks at multiples of 1, 2 or 5 times a power of ten, with the decimals that
// the multiple needs. Very small and very large numbers have exponents.
type Ticks struct {
	N     int
	Whole bool // none between whole numbers
}

// Ticks returns the ticks of an axis from lo to hi.
func (r Ticks) Ticks(lo, hi float64) []plot.Tick {
	if !hasRoom(lo, hi) {
		return nil
	}
	power := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(r.N))))
	step := power
	for _, m := range []float64{1, 2, 5, 10} {
		step = m * power
		if (hi-lo)/step <= float64(r.N) {
			break
		}
	}
	if r.Whole {
		step = max(step, 1)
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i <= hi/step+1e-9; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step+0, step)})
	}
	return ticks
}

// tickLabel writes a multiple of a step with the digits that tell it from the next.
func tickLabel(x, step float64) string {
	exponent := math.Floor(math.Log10(step) + 1e-9)
	switch {
	case exponent >= -6 && exponent <= 9:
		return strconv.FormatFloat(x, 'f', max(0, int(-exponent)), 64)
	case x == 0:
		return "0"
	}
	digits := max(0, int(math.Floor(math.Log10(math.Abs(x))+1e-9)-exponent))
	return strconv.FormatFloat(x, 'e', digits, 64)
}

// PowerTicks label powers of ten on an axis whose values are the exponents, log₁₀ of what is shown.
type PowerTicks struct {
	Zero float64 // the exponent that stands for 0
}

// Ticks returns the ticks of an axis up to hi.
func (p PowerTicks) Ticks(_, hi float64) []plot.Tick {
	ticks := []plot.Tick{{Value: p.Zero, Label: "0"}}
	step := math.Max(2, math.Ceil((hi-p.Zero)/5))
	for v := p.Zero + step; v <= hi+1e-9; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: "1e" + strconv.Itoa(int(v))})
	}
	return ticks
}
