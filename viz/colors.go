package viz

import (
	"cmp"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// tint is a colour on paper and light screens, and its counterpart on dark screens: one drawing serves both.
type tint struct{ light, dark color.NRGBA }

// RGBA is the colour of light screens, for canvases that know no other.
func (c tint) RGBA() (r, g, b, a uint32) { return c.light.RGBA() }

var (
	paper = twin(0xffffff, 0x14181d)
	ink   = twin(0x1b1f24, 0xe8ecf0) // text
	muted = twin(0x5d6670, 0x9aa5b0) // axes, secondary text
	rules = twin(0xe3e7eb, 0x2b323a) // lines behind the data

	// hues colour the methods: the vermillion, blue, orange, sky blue, green, purple and yellow of Okabe and
	// Ito, made lighter or darker only as far as the background requires.
	hues = [7]tint{
		twin(0xd55e00, 0xf0752a), twin(0x0072b2, 0x3f9ae0), twin(0xe69f00, 0xf0b429), twin(0x56b4e9, 0x8fd3fa), twin(0x009e73, 0x1fbf8f),
		twin(0xcc79a7, 0xe09ac4), twin(0xb3a400, 0xf0e442),
	}
	// recommended is the colour of the method "emgd", which no other has.
	recommended = twin(0x6000a0, 0xb870f8)
	// own colours the methods and series that the package does not know. None is near recommended, or one of the hues or their darker
	// or lighter forms: in OKLab all of these are at least 0.12 apart, 2.5 times as far as the nearest two of the others.
	own = [9]tint{
		twin(0xc81058, 0xc82830), twin(0x38b828, 0x00a000), twin(0x3040c8, 0xa09800), twin(0x680040, 0xf05090), twin(0x9050e0, 0x6850e0),
		twin(0x004000, 0x607000), twin(0x981088, 0xb030a0), twin(0x081098, 0x007098), twin(0xa088f8, 0x90d000),
	}
	// ramp colours the streams from the first to the last: anchors of viridis, which stays
	// ordered for colour-blind readers and in grey print.
	ramp = [4]tint{twin(0x440154, 0x9a6fd0), twin(0x3b528b, 0x5f8fd0), twin(0x21918c, 0x2fb5a8), twin(0x6cbf4b, 0xb5de2b)}
	// contourColors are those of the level lines of f₁ and f₂.
	contourColors = [2]tint{twin(0xaab4bd, 0x58626d), twin(0xc7b79c, 0x75684f)}
)

const (
	labelSize = 10 // points
	tickSize  = 9
)

func lineStyle(c color.Color, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(width), Dashes: dashes}
}

// textStyle is a left-aligned, vertically centred style.
func textStyle(c color.Color, size float64) text.Style {
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

// taskColor is the colour of task i of n (from 0), by arrival. A third colour is kept for one that may come.
func taskColor(i, n int) tint {
	x := float64(i) / float64(max(n, 3)-1) * float64(len(ramp)-1)
	k := min(int(x), len(ramp)-2)
	return mix(ramp[k], ramp[k+1], x-float64(k))
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

// twin makes a tint of two colours as rrggbb.
func twin(light, dark uint32) tint {
	rgb := func(hex uint32) color.NRGBA {
		return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
	}
	return tint{rgb(light), rgb(dark)}
}

// tintOf is a colour with its counterpart. One of a user's own stays what it is, unless it could not be seen on a dark screen.
func tintOf(c color.Color) tint {
	if t, ok := c.(tint); ok {
		return t
	}
	plain := color.NRGBAModel.Convert(cmp.Or(c, color.Color(color.Black))).(color.NRGBA)
	if contrast(plain, paper.dark) < 2 {
		return tint{plain, opaque(ink, plain.A).dark}
	}
	return tint{plain, plain}
}

// opaque is a colour with an opacity, from 0 to 255.
func opaque(c tint, alpha uint8) tint {
	c.light.A, c.dark.A = alpha, alpha
	return c
}

// readable is black or white, whichever is easier to read on a colour: the contrast is at least 4.5.
func readable(back tint) tint {
	on := func(c color.NRGBA) color.NRGBA {
		if luminance(c) > 0.179 { // where both have the same contrast
			return color.NRGBA{A: 255}
		}
		return color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	}
	return tint{on(back.light), on(back.dark)}
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
func mix(a, b tint, x float64) tint {
	of := func(a, b color.NRGBA) color.NRGBA {
		f := func(a, b uint8) uint8 { return uint8(float64(a)*(1-x) + float64(b)*x + 0.5) }
		return color.NRGBA{R: f(a.R, b.R), G: f(a.G, b.G), B: f(a.B, b.B), A: f(a.A, b.A)}
	}
	return tint{of(a.light, b.light), of(a.dark, b.dark)}
}
