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

// Color is a colour on paper and light screens, and its counterpart on dark screens: pages serve
// both with one drawing.
type Color struct{ Light, Dark color.NRGBA }

// RGBA returns the colour on light screens; Color is a [color.Color].
func (c Color) RGBA() (r, g, b, a uint32) { return c.Light.RGBA() }

// Colours of everything but the data.
var (
	Background = LightDark(0xffffff, 0x14181d) // the page
	Ink        = LightDark(0x1b1f24, 0xe8ecf0) // text
	Muted      = LightDark(0x5d6670, 0x9aa5b0) // axes, secondary text
	Faint      = LightDark(0xe3e7eb, 0x2b323a) // lines behind the data
)

var (
	// hues colour the methods: the vermillion, blue, orange, sky blue, green, purple and yellow of
	// Okabe and Ito, made lighter or darker only as far as the background requires.
	hues = [7]Color{
		LightDark(0xd55e00, 0xf0752a), LightDark(0x0072b2, 0x3f9ae0), LightDark(0xe69f00, 0xf0b429),
		LightDark(0x56b4e9, 0x8fd3fa), LightDark(0x009e73, 0x1fbf8f),
		LightDark(0xcc79a7, 0xe09ac4), LightDark(0xb3a400, 0xf0e442),
	}
	// recommended is the colour of the method "emgd", which no other has.
	recommended = LightDark(0x6000a0, 0xb870f8)
	// own colours the methods and series that the package does not know. In OKLab each of them is
	// at least 0.12 away from every other colour: from the others of own, from recommended, and
	// from the hues and their darker or lighter forms. The nearest two of these are 0.048 apart.
	own = [9]Color{
		LightDark(0xc81058, 0xc82830), LightDark(0x38b828, 0x00a000), LightDark(0x3040c8, 0xa09800),
		LightDark(0x680040, 0xf05090), LightDark(0x9050e0, 0x6850e0),
		LightDark(0x004000, 0x607000), LightDark(0x981088, 0xb030a0), LightDark(0x081098, 0x007098),
		LightDark(0xa088f8, 0x90d000),
	}
	// ramp colours the tasks from the first to the last. It becomes lighter from anchor to anchor,
	// so that it stays ordered for colour-blind readers and in grey print; each anchor has a hue of
	// its own.
	ramp = [5]Color{
		LightDark(0x4a0a72, 0xa67ff0), LightDark(0x2563c4, 0x5b9cf5), LightDark(0x14948c, 0x2fc4b2),
		LightDark(0x6fae1e, 0xa5d93a),
		LightDark(0xe0a000, 0xffd04d),
	}
)

const (
	labelSize = 10 // points
	tickSize  = 9
)

// TextStyle returns the style of texts in plots: the size of the ticks' labels, left-aligned and
// vertically centred.
func TextStyle(c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    sans(tickSize),
		XAlign:  draw.XLeft,
		YAlign:  draw.YCenter,
		Handler: plot.DefaultTextHandler,
	}
}

// lift raises a text that is centred by its ascent and descent to where its letters look centred.
const lift = vg.Length(1)

// TaskColor returns the colour of task i of n (from 0), in the order of arrival. Of one or two
// tasks it keeps a third colour for the next.
func TaskColor(i, n int) Color {
	x := float64(i) / float64(max(n, 3)-1) * float64(len(ramp)-1)
	k := min(int(x), len(ramp)-2)
	return ramp[k].Mix(ramp[k+1], x-float64(k))
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

// LightDark returns the colour of two numbers 0xRRGGBB, on light screens and on dark ones.
func LightDark(light, dark uint32) Color {
	rgb := func(hex uint32) color.NRGBA {
		return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
	}
	return Color{rgb(light), rgb(dark)}
}

// ColorOf returns a colour with its counterpart on dark screens: the same colour, or one that can
// be seen there.
func ColorOf(c color.Color) Color {
	if t, ok := c.(Color); ok {
		return t
	}
	plain := color.NRGBAModel.Convert(cmp.Or(c, color.Color(color.Black))).(color.NRGBA)
	if contrast(plain, Background.Dark) < 2 {
		return Color{plain, Ink.Alpha(plain.A).Dark}
	}
	return Color{plain, plain}
}

// Alpha returns the colour with an opacity, from 0 to 255.
func (c Color) Alpha(alpha uint8) Color {
	c.Light.A, c.Dark.A = alpha, alpha
	return c
}

// readable is black or white, whichever is easier to read on a colour: the contrast is at least
// 4.5.
func readable(back Color) Color {
	on := func(c color.NRGBA) color.NRGBA {
		if luminance(c) > 0.179 { // where both have the same contrast
			return color.NRGBA{A: 255}
		}
		return color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	}
	return Color{on(back.Light), on(back.Dark)}
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

// contrast is the contrast ratio of WCAG.
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Mix returns a colour between two: c at a share of 0, and the other at 1.
func (c Color) Mix(other Color, share float64) Color {
	of := func(a, b color.NRGBA) color.NRGBA {
		f := func(a, b uint8) uint8 { return uint8(float64(a)*(1-share) + float64(b)*share + 0.5) }
		return color.NRGBA{R: f(a.R, b.R), G: f(a.G, b.G), B: f(a.B, b.B), A: f(a.A, b.A)}
	}
	return Color{of(c.Light, other.Light), of(c.Dark, other.Dark)}
}

// Diverging returns the colour of a value from −1 to 1, with grey at 0.
func Diverging(v float64) Color {
	if v < 0 {
		return Faint.Mix(hues[0], min(1, -v))
	}
	return Faint.Mix(hues[1], min(1, v))
}

// Sequential returns the colour of a value from 0, grey, to 1.
func Sequential(v float64) Color {
	return Faint.Mix(hues[1], min(1, max(0, v)))
}

// SeriesColor returns a colour for series that are not methods, by their number: one of 14 in turn.
func SeriesColor(i int) Color {
	i %= 2 * len(hues)
	c := hues[i%len(hues)]
	if i >= len(hues) {
		return c.Mix(Ink, 0.45)
	}
	return c
}

// Marker returns a filled marker for series that are not methods, by their number: one of five in
// turn.
func Marker(i int) draw.GlyphDrawer { return solid[i%len(solid)] }
