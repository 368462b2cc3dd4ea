package viz

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// closest is the smallest relative difference of two ends of an axis; ticks could not be told apart on a shorter one.
const closest = 1e-12

// settle makes the ends of an axis equal that differ by rounding only: gonum then makes room around them.
func settle(a *plot.Axis) {
	if a.Max > a.Min && !hasRoom(a.Min, a.Max) {
		a.Max = a.Min
	}
}

// hasRoom says whether an axis between two ends has room for ticks. Parts of the smallest numbers would be 0.
func hasRoom(lo, hi float64) bool {
	return hi-lo > 1e-300 && !(hi-lo <= closest*max(math.Abs(lo), math.Abs(hi)))
}

// roundTicks puts about n labels at multiples of 1, 2 or 5 times a power of ten, all with the
// decimals that the multiple needs. Very small and very large numbers have exponents, or they would fill the figure.
type roundTicks struct {
	n     int
	whole bool // none between whole numbers
}

func (r roundTicks) Ticks(lo, hi float64) []plot.Tick {
	if !hasRoom(lo, hi) {
		return nil
	}
	power := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(r.n))))
	step := power
	for _, m := range []float64{1, 2, 5, 10} {
		step = m * power
		if (hi-lo)/step <= float64(r.n) {
			break
		}
	}
	if r.whole {
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

// withoutLabels keeps the tick marks where the plot below names them.
type withoutLabels struct{ plot.Ticker }

func (w withoutLabels) Ticks(lo, hi float64) []plot.Tick {
	ticks := w.Ticker.Ticks(lo, hi)
	for i := range ticks {
		ticks[i].Label = ""
	}
	return ticks
}

// powerTicks label every so many powers of ten on an axis that holds the exponent: the values
// are log₁₀, so that zero can be put on a floor.
type powerTicks struct {
	floor float64 // the exponent that stands for zero
}

func (p powerTicks) Ticks(lo, hi float64) []plot.Tick {
	ticks := []plot.Tick{{Value: p.floor, Label: "0"}}
	step := math.Max(2, math.Ceil((hi-p.floor)/5))
	for v := p.floor + step; v <= hi+1e-9; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: "1e" + strconv.Itoa(int(v))})
	}
	return ticks
}

// around is the range of values with a margin: a share of the range, and at least so much.
func around(share, least float64, values ...float64) (low, high float64) {
	low, high = slices.Min(values), slices.Max(values)
	margin := max(least, share*(high-low))
	return low - margin, high + margin
}
