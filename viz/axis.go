package viz

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// axis tells pages how places become values.
type axis struct {
	Label    string `json:",omitempty"`
	Min, Max float64
	Kind     axisKind   `json:",omitempty"`
	Names    []tickName `json:",omitempty"` // of the values of an axis of names
}

type axisKind string // the empty one is linear

const (
	logAxis   axisKind = "log"
	powerAxis axisKind = "power" // its values are exponents of ten
	nameAxis  axisKind = "names" // its values stand for names
)

// tickName is the name of a value.
type tickName struct {
	At   float64
	Name string
}

func axisOf(a *plot.Axis) axis {
	out := axis{Label: a.Label.Text, Min: a.Min, Max: a.Max}
	if _, log := a.Scale.(plot.LogScale); log {
		out.Kind = logAxis
	}
	switch ticks := a.Tick.Marker.(type) {
	case plot.ConstantTicks:
		out.Kind = nameAxis
		for _, t := range ticks {
			if t.Label != "" {
				out.Names = append(out.Names, tickName{t.Value, t.Label})
			}
		}
	case PowerTicks:
		out.Kind = powerAxis
	}
	return out
}

// share returns how far along the axis a value lies.
func (a axis) share(v float64) float64 {
	if a.Kind == logAxis {
		return math.Log(v/a.Min) / math.Log(a.Max/a.Min)
	}
	return (v - a.Min) / (a.Max - a.Min)
}

// rounded keeps the four digits of a value that readers see, and more where these would move it.
func (a axis) rounded(v float64) float64 {
	finest := math.Floor(math.Log10(max(a.Max-a.Min, 1e-300) / 5000))
	digits := max(4, math.Floor(math.Log10(math.Abs(v)))-finest+1)
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', int(min(digits, 17)), 64), 64)
	return v
}

// reachable returns the values that a pointer can reach and tell apart: not those outside of the
// axes, nor those within three points of the one before.
func (p *part) reachable(at [][]float64) (out [][]float64) {
	var lastX, lastY float64
	for i, v := range at {
		shareX, shareY := p.X.share(v[0]), p.Y.share(v[1])
		x, y := float64(p.Data[2])*shareX, float64(p.Data[3])*shareY
		off := min(shareX, shareY) < -0.01 || max(shareX, shareY) > 1.01
		if near := math.Hypot(x-lastX, y-lastY) < 30; off || near && len(out) > 0 && i < len(at)-1 {
			continue
		}
		v, lastX, lastY = slices.Clone(v), x, y
		for k := range v {
			v[k] = []axis{p.X, p.Y}[min(k, 1)].rounded(v[k])
		}
		out = append(out, v)
	}
	return out
}
