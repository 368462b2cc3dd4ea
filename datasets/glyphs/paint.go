package glyphs

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// A painter makes images one after the other and reuses its buffers. All lengths are in pixels.
type painter struct {
	fonts   []face
	pcg     *rand.PCG
	rng     *rand.Rand
	raster  *vector.Rasterizer
	mask    *image.Alpha
	ink     [pixels]float64 // the image so far, 0 to about 1
	layer   [pixels]float64 // what is being added
	scratch [pixels]float64
}

func newPainter() *painter {
	pcg := rand.NewPCG(0, 0)
	return &painter{fonts: fonts(), pcg: pcg, rng: rand.New(pcg),
		raster: vector.NewRasterizer(side, side), mask: image.NewAlpha(image.Rect(0, 0, side, side))}
}

// seed starts the image's own random stream.
func (p *painter) seed(c Config, part uint8, class, index int) {
	id := uint64(part)<<56 | uint64(class)<<48 | uint64(index)
	p.pcg.Seed(scramble(c.Seed), scramble(id^0x9e3779b97f4a7c15))
}

// scramble is the finaliser of splitmix64: neighbouring numbers become unrelated ones.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (p *painter) paint(dst []uint8, c Config, part uint8, class, index int) {
	p.seed(c, part, class, index)
	d := c.Difficulty
	clear(p.ink[:])
	p.character(class, d)
	p.neighbours(d)
	p.strays(d)
	p.gaps(d)
	for range p.count(0.4 * d) {
		blur(&p.ink, &p.scratch)
	}
	p.shade(d)
	p.finish(dst, d)
}

// between draws uniformly from [lo, hi).
func (p *painter) between(lo, hi float64) float64 { return lo + (hi-lo)*p.rng.Float64() }

// count draws a small number with the given mean (geometric, at most 5).
func (p *painter) count(mean float64) int {
	n := 0
	for n < 5 && p.rng.Float64() < mean/(1+mean) {
		n++
	}
	return n
}

// character draws the glyph that the label names.
func (p *painter) character(class int, d float64) {
	size := 24 * math.Exp(0.13*d*p.rng.NormFloat64())
	at := point{side/2 + 1.5*d*p.between(-1, 1), side/2 + 1.5*d*p.between(-1, 1)}
	p.glyph(class, size, at, d)
	p.weight(d)
	p.merge(p.between(max(0.2, 1-0.45*d), 1))
}

// glyph rasterises a distorted character into the layer.
func (p *painter) glyph(class int, size float64, at point, d float64) {
	o := p.fonts[p.rng.IntN(len(p.fonts))][class]
	warp := p.warp(size, at, d)
	p.raster.Reset(side, side)
	for _, contour := range o {
		for i, q := range contour {
			q = warp(q)
			if i == 0 {
				p.raster.MoveTo(float32(q.x), float32(q.y))
			} else {
				p.raster.LineTo(float32(q.x), float32(q.y))
			}
		}
		p.raster.ClosePath()
	}
	p.fill()
}

// warp draws a map from em units to pixels: rotation, shear, stretch, and a smooth wobble.
func (p *painter) warp(size float64, at point, d float64) func(point) point {
	angle := 0.155 * d * p.rng.NormFloat64()
	shear := 0.155 * d * p.rng.NormFloat64()
	stretch := math.Exp(0.1 * d * p.rng.NormFloat64())
	sin, cos := math.Sincos(angle)
	var wave [4]struct{ fx, fy, phase float64 }
	for i := range wave {
		wave[i].fx, wave[i].fy, wave[i].phase = p.between(-7, 7), p.between(-7, 7), p.between(0, 2*math.Pi)
	}
	amp := 0.026 * d
	return func(q point) point {
		var w [4]float64
		for i, v := range wave {
			w[i] = amp * math.Sin(v.fx*q.x+v.fy*q.y+v.phase)
		}
		x, y := (q.x+w[0]+w[1])*stretch, (q.y+w[2]+w[3])/stretch
		x += shear * y
		return point{at.x + size*(cos*x-sin*y), at.y + size*(sin*x+cos*y)}
	}
}

// fill turns the path of the rasteriser into the layer.
func (p *painter) fill() {
	p.raster.DrawOp = draw.Src // Reset sets it back to Over
	p.raster.Draw(p.mask, p.mask.Rect, image.Opaque, image.Point{})
	for i, a := range p.mask.Pix {
		p.layer[i] = float64(a) / 255
	}
}

// weight makes the strokes of the layer thicker or thinner: blur, then a new threshold.
func (p *painter) weight(d float64) {
	blur(&p.layer, &p.scratch)
	threshold := 0.4 + min(0.18*d, 0.3)*p.between(-1, 1)
	for i, v := range p.layer {
		p.layer[i] = min(max((v-threshold)*3+0.5, 0), 1)
	}
}

// merge lays the layer over the image with the given intensity.
func (p *painter) merge(intensity float64) {
	for i, v := range p.layer {
		p.ink[i] = max(p.ink[i], intensity*v)
	}
}

// neighbours lets parts of other characters look in from the sides, as in cut-out text.
func (p *painter) neighbours(d float64) {
	for range p.count(0.3 * d) {
		angle := p.between(0, 2*math.Pi)
		r := p.between(13, 19)
		at := point{side/2 + r*math.Cos(angle), side/2 + r*math.Sin(angle)}
		p.glyph(p.rng.IntN(len(Classes)), p.between(16, 24), at, d)
		p.merge(p.between(0.3, 0.95))
	}
}

// strays draws curved strokes across the image.
func (p *painter) strays(d float64) {
	for range p.count(0.6 * d) {
		p.stroke(p.between(0.5, 1.6))
		p.merge(p.between(0.3, 0.95))
	}
}

// gaps wipes curved strokes out of the image.
func (p *painter) gaps(d float64) {
	for range p.count(0.3 * d) {
		p.stroke(p.between(0.6, 2))
		for i, v := range p.layer {
			p.ink[i] *= 1 - v
		}
	}
}

// stroke draws a band of the given half-width along a random curve into the layer.
func (p *painter) stroke(half float64) {
	any := func() point { return point{p.between(-2, side+2), p.between(-2, side+2)} }
	a, b, c := any(), any(), any()
	const pieces = 8
	var left, right [pieces + 1]point
	for i := range left {
		t := float64(i) / pieces
		ab, bc := mix(a, b, t), mix(b, c, t)
		at := mix(ab, bc, t)
		nx, ny := bc.y-ab.y, ab.x-bc.x
		n := max(math.Hypot(nx, ny), 1e-6)
		left[i] = point{at.x + half*nx/n, at.y + half*ny/n}
		right[pieces-i] = point{at.x - half*nx/n, at.y - half*ny/n}
	}
	p.raster.Reset(side, side)
	p.raster.MoveTo(float32(left[0].x), float32(left[0].y))
	for _, q := range append(left[1:], right[:]...) {
		p.raster.LineTo(float32(q.x), float32(q.y))
	}
	p.raster.ClosePath()
	p.fill()
}

// shade adds a slope of background light.
func (p *painter) shade(d float64) {
	base := 0.15 * d * p.rng.Float64()
	sx, sy := 0.012*d*p.between(-1, 1), 0.012*d*p.between(-1, 1)
	for i := range p.ink {
		x, y := float64(i%side)-side/2, float64(i/side)-side/2
		bg := max(base+sx*x+sy*y, 0)
		p.ink[i] = bg + (1-min(bg, 1))*p.ink[i]
	}
}

// finish adds noise and writes bytes.
func (p *painter) finish(dst []uint8, d float64) {
	sigma := 255 * 0.09 * d * p.rng.Float64()
	for i, v := range p.ink {
		// Four uniform 16-bit numbers make a number that is near enough to normal.
		r := p.rng.Uint64()
		sum := float64(r&0xffff+r>>16&0xffff+r>>32&0xffff+r>>48) / 65535
		v = 255*v + sigma*(sum-2)*1.732
		dst[i] = uint8(min(max(v, 0), 255) + 0.5)
	}
}

// blur convolves with [1 2 1]/4 in both directions; outside of the image is black.
func blur(img, scratch *[pixels]float64) {
	blurLines(scratch, img, 1, side)
	blurLines(img, scratch, side, 1)
}

// blurLines blurs along lines of pixels step apart; the lines are next apart.
func blurLines(dst, src *[pixels]float64, step, next int) {
	for line := range side {
		at := line * next
		before, here := 0.0, src[at]
		for i := range side {
			after := 0.0
			if i < side-1 {
				after = src[at+step]
			}
			dst[at] = (before + 2*here + after) / 4
			before, here = here, after
			at += step
		}
	}
}
