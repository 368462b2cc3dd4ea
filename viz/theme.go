package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Theme holds the colours of a figure. The zero value is not usable: take [Light] or [Dark].
type Theme struct {
	Background color.NRGBA
	Ink        color.NRGBA // text
	Muted      color.NRGBA // axes, secondary text
	Grid       color.NRGBA
	// Hues colour the methods: the vermillion, blue, orange, sky blue, green, purple and yellow of Okabe and
	// Ito, made lighter or darker only as far as the background requires.
	Hues [7]color.NRGBA
	// Recommended is the colour of the method "emgd", which no other has.
	Recommended color.NRGBA
	// Own colours the methods and series that the package does not know. None is near Recommended, or one of the Hues or their darker or
	// lighter forms: in OKLab all of these are at least 0.12 apart, 2.5 times as far as the nearest two of the others.
	Own [9]color.NRGBA
	// Ramp colours the streams from the first to the last: anchors of viridis, which stays
	// ordered for colour-blind readers and in grey print.
	Ramp [4]color.NRGBA
	// Contours colours the level lines of f₁ and f₂.
	Contours [2]color.NRGBA
}

// Light is for paper and light screens.
var Light = &Theme{
	Background: rgb(0xffffff),
	Ink:        rgb(0x1b1f24),
	Muted:      rgb(0x5d6670),
	Grid:       rgb(0xe3e7eb),
	Hues: [7]color.NRGBA{
		rgb(0xd55e00), rgb(0x0072b2), rgb(0xe69f00), rgb(0x56b4e9), rgb(0x009e73), rgb(0xcc79a7), rgb(0xb3a400),
	},
	Recommended: rgb(0x6000a0),
	Own: [9]color.NRGBA{
		rgb(0xc81058), rgb(0x38b828), rgb(0x3040c8), rgb(0x680040), rgb(0x9050e0),
		rgb(0x004000), rgb(0x981088), rgb(0x081098), rgb(0xa088f8),
	},
	Ramp:     [4]color.NRGBA{rgb(0x440154), rgb(0x3b528b), rgb(0x21918c), rgb(0x6cbf4b)},
	Contours: [2]color.NRGBA{rgb(0xaab4bd), rgb(0xc7b79c)},
}

// Dark is for dark screens.
var Dark = &Theme{
	Background: rgb(0x14181d),
	Ink:        rgb(0xe8ecf0),
	Muted:      rgb(0x9aa5b0),
	Grid:       rgb(0x2b323a),
	Hues: [7]color.NRGBA{
		rgb(0xf0752a), rgb(0x3f9ae0), rgb(0xf0b429), rgb(0x8fd3fa), rgb(0x1fbf8f), rgb(0xe09ac4), rgb(0xf0e442),
	},
	Recommended: rgb(0xb870f8),
	Own: [9]color.NRGBA{
		rgb(0xc82830), rgb(0x00a000), rgb(0xa09800), rgb(0xf05090), rgb(0x6850e0),
		rgb(0x607000), rgb(0xb030a0), rgb(0x007098), rgb(0x90d000),
	},
	Ramp:     [4]color.NRGBA{rgb(0x9a6fd0), rgb(0x5f8fd0), rgb(0x2fb5a8), rgb(0xb5de2b)},
	Contours: [2]color.NRGBA{rgb(0x58626d), rgb(0x75684f)},
}

const (
	labelSize = 10 // points
	tickSize  = 9
)

// newPlot returns an empty plot in the theme's style.
func (t *Theme) newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = t.Background
	p.Title.TextStyle.Font = sans(labelSize)
	p.Title.TextStyle.Color = t.Ink
	p.Title.Padding = vg.Points(5)
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{7}, roundTicks{6}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(labelSize)
		a.Label.TextStyle.Color = t.Ink
		a.Label.Padding = vg.Points(3)
		a.Tick.Label.Font = sans(tickSize)
		a.Tick.Label.Color = t.Muted
		a.Tick.Length = vg.Points(3)
		a.Tick.LineStyle = t.line(t.Muted, 0.5)
		a.LineStyle = t.line(t.Muted, 0.5)
		a.Padding = vg.Points(2)
	}
	return p
}

func (t *Theme) line(c color.Color, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(width), Dashes: dashes}
}

// text returns a left-aligned, vertically centred style.
func (t *Theme) text(c color.Color, size float64) text.Style {
	return text.Style{
		Color:   c,
		Font:    sans(size),
		XAlign:  draw.XLeft,
		YAlign:  draw.YCenter,
		Handler: plot.DefaultTextHandler,
	}
}

// lift raises a text that is centred by its ascent and descent to where its letters look centred.
const lift = vg.Length(1)

// Stream is the colour of stream i of n (from 0), by arrival.
func (t *Theme) Stream(i, n int) color.NRGBA {
	if n < 2 {
		return t.Ramp[1]
	}
	x := float64(i) / float64(n-1) * float64(len(t.Ramp)-1)
	k := min(int(x), len(t.Ramp)-2)
	return mix(t.Ramp[k], t.Ramp[k+1], x-float64(k))
}

// task is the colour of a task, by its place among n. A third colour is kept for one that may come.
func (t *Theme) task(i, n int) color.NRGBA { return t.Stream(i, max(n, 3)) }

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// luminance is the relative luminance of WCAG, from 0 of black to 1 of white.
func luminance(c color.NRGBA) float64 {
	f := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*f(c.R) + 0.7152*f(c.G) + 0.0722*f(c.B)
}

// contrast is that of WCAG.
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix goes from a to b as x goes from 0 to 1.
func mix(a, b color.NRGBA, x float64) color.NRGBA {
	f := func(a, b uint8) uint8 { return uint8(float64(a)*(1-x) + float64(b)*x + 0.5) }
	return color.NRGBA{R: f(a.R, b.R), G: f(a.G, b.G), B: f(a.B, b.B), A: f(a.A, b.A)}
}
