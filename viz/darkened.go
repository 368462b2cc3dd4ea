package viz

import (
	"image/color"
	"sync"
)

// A page shows one drawing in light and in dark. What a colour of [Light] becomes on dark screens, [Dark] says; colours
// between those of the theme, such as those of cells, become what lies between theirs.

// anchors are colours of Light and their counterparts.
var anchors = sync.OnceValue(func() (out [][2]color.NRGBA) {
	l, d := Light, Dark
	add := func(a, b color.NRGBA) { out = append(out, [2]color.NRGBA{a, b}) }
	for _, c := range [][2]color.NRGBA{
		{l.Background, d.Background}, {l.Ink, d.Ink}, {rgb(0), d.Ink}, {l.Muted, d.Muted}, {l.Grid, d.Grid}, {l.Recommended, d.Recommended},
	} {
		add(c[0], c[1])
	}
	for i := range l.Contours {
		add(l.Contours[i], d.Contours[i])
	}
	for i := range l.Ramp {
		add(l.Ramp[i], d.Ramp[i])
	}
	for i := range 2 * len(l.Hues) {
		add(l.hue(i), d.hue(i))
	}
	for i := range l.Own {
		add(l.Own[i], d.Own[i])
	}
	return out
})

// darkened weighs the anchors by how near they are.
func darkened(c color.NRGBA) color.NRGBA {
	var sum [3]float64
	total := 0.0
	for _, a := range anchors() {
		r, g, b := float64(c.R)-float64(a[0].R), float64(c.G)-float64(a[0].G), float64(c.B)-float64(a[0].B)
		d := r*r + g*g + b*b
		if d == 0 {
			return color.NRGBA{R: a[1].R, G: a[1].G, B: a[1].B, A: c.A}
		}
		w := 1 / (d * d)
		for i, v := range [3]uint8{a[1].R, a[1].G, a[1].B} {
			sum[i] += w * float64(v)
		}
		total += w
	}
	at := func(i int) uint8 { return uint8(sum[i]/total + 0.5) }
	return color.NRGBA{R: at(0), G: at(1), B: at(2), A: c.A}
}

// readable is black or white, whichever is easier to read on a colour: the contrast is at least 4.5.
type readable struct{ back color.NRGBA }

func (r readable) RGBA() (red, green, blue, alpha uint32) {
	if luminance(r.back) > 0.179 { // where both have the same contrast
		return color.Black.RGBA()
	}
	return color.White.RGBA()
}
