package viz

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestRoom: a free place is inside, covers nothing, and is as near as was asked; a further reach
// finds at least as many.
func TestRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	inside := vg.Rectangle{Max: vg.Point{X: 200, Y: 150}}
	place := func(reach vg.Length, at, sizes []vg.Point) (named int) {
		var taken []vg.Rectangle
		for _, p := range at {
			taken = append(taken, square(p, 3))
		}
		for i, p := range at {
			box, free := room(inside, taken, p, sizes[i], reach)
			if !free {
				continue
			}
			named++
			if !within(box, inside) {
				t.Fatalf("%v is outside", box)
			}
			for _, other := range taken {
				if overlap(box, other) {
					t.Fatalf("%v covers %v", box, other)
				}
			}
			// A diagonal place is √2 times as far away.
			if d := nearest(box, p).Sub(p); d.Dot(d) > 2.01*(4+reach)*(4+reach) {
				t.Fatalf("%v is %v away from %v with a reach of %g", box, d, p, reach)
			}
			taken = append(taken, box)
		}
		return named
	}
	near, far := 0, 0
	for range 200 {
		at, sizes := make([]vg.Point, 12), make([]vg.Point, 12)
		for i := range at {
			at[i] = vg.Point{X: 60 + vg.Length(rng.Float64()*80), Y: 40 + vg.Length(rng.Float64()*60)}
			sizes[i] = vg.Point{X: 20 + vg.Length(rng.Float64()*40), Y: 9}
		}
		near, far = near+place(0, at, sizes), far+place(60, at, sizes)
	}
	if near == 0 || far <= near {
		t.Errorf("%d names have room beside their points, %d within a reach of 60", near, far)
	}
}
