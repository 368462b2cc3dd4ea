package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// logarithmic says whether a scale is gonum's logarithmic one, if need be inverted, or ours.
func logarithmic(s plot.Normalizer) bool {
	switch s := s.(type) {
	case plot.LogScale, logScale:
		return true
	case plot.InvertedScale:
		return logarithmic(s.Normalizer)
	}
	return false
}

// logScale is gonum's, which panics at what is not positive: that lies far outside here.
type logScale struct{}

func (logScale) Normalize(lo, hi, x float64) float64 {
	return plot.LogScale{}.Normalize(lo, hi, max(x, math.SmallestNonzeroFloat64))
}

// checkAxis returns an error if an axis is logarithmic and has an end that is not positive.
func checkAxis(a *plot.Axis) error {
	if logarithmic(a.Scale) && !(a.Min > 0 && a.Max > 0 && a.Min <= math.MaxFloat64 && a.Max <= math.MaxFloat64) {
		return fmt.Errorf("viz: the axis %q is logarithmic and goes from %g to %g; want positive numbers", a.Label.Text, a.Min, a.Max)
	}
	return nil
}

// drawable returns an error if a point lies beside a logarithmic axis, also where its ends were set.
func (p *Plot) drawable() error {
	for _, row := range p.data {
		for i, value := range row[2:] {
			axis := &p.Y
			if i == 0 {
				axis = &p.X
			}
			if x, ok := value.(float64); ok && x <= 0 && logarithmic(axis.Scale) {
				return fmt.Errorf("viz: plot %q, series %q: %g on the logarithmic axis %q; want a positive number", row[0], row[1], x, axis.Label.Text)
			}
		}
	}
	return nil
}

// settleLog makes room around a single value, and puts ticks of ours in the place of those that fail or have no numbers.
func settleLog(a *plot.Axis) {
	a.Min, a.Max = min(a.Min, a.Max), max(a.Min, a.Max)
	if !hasRoom(a.Min, a.Max) {
		a.Min, a.Max = max(a.Min/2, math.SmallestNonzeroFloat64), min(2*a.Max, math.MaxFloat64)
	}
	if _, inverted := a.Scale.(plot.InvertedScale); inverted {
		a.Scale = plot.InvertedScale{Normalizer: logScale{}}
	} else {
		a.Scale = logScale{}
	}
	switch a.Tick.Marker.(type) {
	case plot.LogTicks, plot.DefaultTicks, roundTicks:
		a.Tick.Marker = logTicks{}
	}
}

// logTicks are at powers of ten, of which about six have labels; within three of them, 2 and 5 times these have labels too.
// Within one they are like those of any other axis.
type logTicks struct{}

func (logTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	first, last := math.Log10(lo), math.Log10(hi)
	if last-first < 1 {
		return roundTicks{5}.Ticks(lo, hi)
	}
	every := math.Ceil((last - first) / 6)
	for exponent := math.Floor(first); exponent <= last; exponent++ {
		for digit := 1.0; digit < 10; digit++ {
			x := digit * math.Pow10(int(exponent))
			labelled := digit == 1 && math.Mod(exponent, every) == 0 || last-first < 3 && (digit == 2 || digit == 5)
			switch {
			case x < lo || x > hi:
			case labelled:
				ticks = append(ticks, plot.Tick{Value: x, Label: tickLabel(x, x)})
			case every == 1:
				ticks = append(ticks, plot.Tick{Value: x})
			}
		}
	}
	return ticks
}
