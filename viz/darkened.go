package viz

import (
	"image/color"
	"math"
	"sync"
)

// A page shows one drawing in light and in dark. What a colour of [Light] becomes on dark screens, [Dark] says; a mixture of two
// of its colours becomes the same mixture of their counterparts, and any other colour what lies between those of its neighbours.

// pairOfColors is a colour of Light and its counterpart.
type pairOfColors struct{ light, dark color.NRGBA }

type counterparts struct {
	all   []pairOfColors
	mixed [][2]pairOfColors // of which figures draw mixtures, the commonest first
}

var ofLight = sync.OnceValue(func() (c counterparts) {
	l, d := Light, Dark
	add := func(a, b color.NRGBA) pairOfColors {
		p := pairOfColors{a, b}
		c.all = append(c.all, p)
		return p
	}
	paper, muted, grid := add(l.Background, d.Background), add(l.Muted, d.Muted), add(l.Grid, d.Grid)
	add(l.Ink, d.Ink)
	add(rgb(0), d.Ink)
	for i := range l.Contours {
		add(l.Contours[i], d.Contours[i])
	}
	var ramp []pairOfColors
	for i := range l.Ramp {
		ramp = append(ramp, add(l.Ramp[i], d.Ramp[i]))
	}
	methods := []pairOfColors{add(l.Recommended, d.Recommended)}
	for i := range 2 * len(l.Hues) {
		methods = append(methods, add(l.hue(i), d.hue(i)))
	}
	for i := range l.Own {
		methods = append(methods, add(l.Own[i], d.Own[i]))
	}
	c.mixed = [][2]pairOfColors{{grid, methods[2]}, {grid, methods[1]}, {muted, methods[2]}, {muted, methods[1]}}
	for i := range len(ramp) - 1 {
		c.mixed = append(c.mixed, [2]pairOfColors{ramp[i], ramp[i+1]})
	}
	for _, m := range methods {
		c.mixed = append(c.mixed, [2]pairOfColors{paper, m})
		for _, share := range shades[1:] { // of variants
			add(mix(m.light, l.far(m.light), share), mix(m.dark, d.far(m.dark), share))
		}
	}
	return c
})

// darkened is the counterpart of a colour.
func darkened(c color.NRGBA) color.NRGBA {
	known := ofLight()
	for _, p := range known.all {
		if p.light.R == c.R && p.light.G == c.G && p.light.B == c.B {
			return opaqueAs(c, p.dark)
		}
	}
	for _, p := range known.mixed {
		if x, ok := between(c, p[0].light, p[1].light); ok {
			return opaqueAs(c, mix(p[0].dark, p[1].dark, x))
		}
	}
	var sum [3]float64
	total := 0.0
	for _, p := range known.all {
		w := 1 / math.Pow(distance(c, p.light), 4)
		for i, v := range rgbOf(p.dark) {
			sum[i] += w * v
		}
		total += w
	}
	at := func(i int) uint8 { return uint8(sum[i]/total + 0.5) }
	return opaqueAs(c, color.NRGBA{R: at(0), G: at(1), B: at(2)})
}

// opaqueAs is a colour with the opacity of another.
func opaqueAs(c, other color.NRGBA) color.NRGBA {
	other.A = c.A
	return other
}

// between says how far a colour is from a to b, if it is a mixture of the two but for rounding.
func between(c, a, b color.NRGBA) (x float64, ok bool) {
	dot, length := 0.0, 0.0
	from, to := rgbOf(a), rgbOf(b)
	for i, v := range rgbOf(c) {
		dot += (v - from[i]) * (to[i] - from[i])
		length += (to[i] - from[i]) * (to[i] - from[i])
	}
	x = min(max(dot/length, 0), 1)
	return x, distance(c, mix(a, b, x)) <= 1.5
}

func rgbOf(c color.NRGBA) [3]float64 { return [3]float64{float64(c.R), float64(c.G), float64(c.B)} }

func distance(a, b color.NRGBA) float64 {
	x, y := rgbOf(a), rgbOf(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

// readable is black or white, whichever is easier to read on a colour: the contrast is at least 4.5.
type readable struct{ back color.NRGBA }

func (r readable) RGBA() (red, green, blue, alpha uint32) {
	if luminance(r.back) > 0.179 { // where both have the same contrast
		return color.Black.RGBA()
	}
	return color.White.RGBA()
}
