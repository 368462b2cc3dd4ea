package rehearsal

import (
	"slices"
	"testing"
)

// TestExtended: stored logits stay, and new logits stay below γ times that of the right class.
func TestExtended(t *testing.T) {
	for _, c := range []struct {
		name           string
		old, now, want []float32
		right          int
	}{
		{"no new output", []float32{2, -1}, []float32{7, 8}, []float32{2, -1}, 0},
		{"scaled", []float32{2, -1}, []float32{7, 8, 4, 1, -2}, []float32{2, -1, 1, .25, -.5}, 0},
		{"small enough", []float32{2, -1}, []float32{7, 8, 1, -3}, []float32{2, -1, 1, -3}, 0},
		{"none is positive", []float32{2, -1}, []float32{7, 8, -1, -3}, []float32{2, -1, -1, -3}, 1},
		{"the right class is not", []float32{2, -1}, []float32{7, 8, 4, -3}, []float32{2, -1, 0, 0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := slices.Clone(c.old), slices.Clone(c.now)
			got := extended(old, now, c.right, .5)
			for i := range got {
				got[i] += 0 // −0 is 0
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
			if !slices.Equal(old, c.old) || !slices.Equal(now, c.now) {
				t.Error("it changed what it was given")
			}
		})
	}
}
