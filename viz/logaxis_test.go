package viz

import (
	"bytes"
	"math"
	"regexp"
	"testing"

	"gonum.org/v1/plot"
)

// logged draws values on a logarithmic axis, whose ends are set where they are not 0, and returns the drawing.
func logged(scale plot.Normalizer, low, high float64, y ...float64) (string, error) {
	p := NewPlot(Light, "", "", "")
	x := make([]float64, len(y))
	for i := range x {
		x[i] = float64(i)
	}
	p.Line("a", Style{}, x, y)
	p.Y.Scale, p.Y.Tick.Marker, p.X.Tick.Marker = scale, plot.LogTicks{Prec: -1}, plot.ConstantTicks{}
	if low != 0 {
		p.Y.Min, p.Y.Max = low, high
	}
	f, err := Plots("a", "b", p)
	if err != nil {
		return "", err
	}
	var svg bytes.Buffer
	err = f.Encode(&svg, "svg")
	return svg.String(), err
}

// TestLogAxis: every positive range has at least two and at most a dozen numbers, everything else is an error.
func TestLogAxis(t *testing.T) {
	number := regexp.MustCompile(`>[0-9.e+-]+</text>`)
	for _, y := range [][]float64{
		{1}, {1, 1, 1}, {0.5, 0.5}, {2, 4}, {2, 3}, {1, 10}, {9, 11}, {0.9, 9}, {2, 30}, {3, 2000}, {1e-300, 1e300}, {1, 1 + 1e-13}, {1e-7, 1e-6},
		{math.SmallestNonzeroFloat64, math.MaxFloat64}, {math.MaxFloat64}, {4, 5e9},
	} {
		for _, scale := range []plot.Normalizer{plot.LogScale{}, plot.InvertedScale{Normalizer: plot.LogScale{}}} {
			svg, err := logged(scale, 0, 0, y...)
			if n := len(number.FindAllString(svg, -1)); err != nil || n < 2 || n > 12 {
				t.Errorf("%g on %T: %d numbers (%v)", y, scale, n, err)
			}
		}
	}
	for _, c := range [][]float64{{0, 0, 0, 1}, {0, 0, -1, 1}, {0, 0, 0}, {1, 2, 0, 1}, {math.NaN(), 2, 1, 2}, {-1, 2, 1, 2}, {1, math.Inf(1), 1, 2}} {
		if _, err := logged(plot.LogScale{}, c[0], c[1], c[2:]...); err == nil {
			t.Errorf("ends %g, values %g: no error", c[:2], c[2:])
		}
	}
	if _, err := logged(plot.LogScale{}, 4, 2, 1, 5); err != nil { // as on other axes, the ends may be given in either order
		t.Error(err)
	}
}

// TestZeroStyle: a style in which nothing is set draws a line that can be seen.
func TestZeroStyle(t *testing.T) {
	draw := func(x ...float64) []byte {
		p := NewPlot(Light, "", "", "")
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.Line("", Style{}, x, x)
		f, err := Plots("a", "b", p)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Encode(&b, "png"); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if bytes.Equal(draw(0, 1), draw(0.5, 0.5)) {
		t.Error("two lines look alike")
	}
}
