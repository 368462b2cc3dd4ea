package pcl

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// TestEditorMoves: how far, and which way, one stored pixel of 0.5 moves along the gradient (3, 4).
func TestEditorMoves(t *testing.T) {
	for name, c := range map[string]struct {
		edit Edit
		want float64 // the first pixel
	}{
		"raw":     {Edit{Eta: 0.01, Norm: "raw"}, 0.5 - 0.01*3},
		"l2":      {Edit{Eta: 0.1, Norm: "l2"}, 0.5 - 0.1*3/5},
		"rms":     {Edit{Eta: 0.1, Norm: "rms"}, 0.5 - 0.1*3/math.Sqrt(25./2)},
		"ascend":  {Edit{Eta: 0.01, Norm: "raw", Direction: "ascend"}, 0.5 + 0.01*3},
		"drift":   {Edit{Eta: 1, Norm: "raw", MaxDrift: 0.25}, 0.25},
		"clamped": {Edit{Eta: 1, Norm: "raw"}, 0},
		"beyond":  {Edit{Eta: 1, Norm: "raw", Unclamped: true}, -2.5},
	} {
		t.Run(name, func(t *testing.T) {
			e := editor{Edit: c.edit, memory: oneStored(t)}
			change := e.move(0, []float32{3, 4})
			if got := float64(e.memory.Item(0).Pixels[0]); math.Abs(got-c.want) > 1e-6 {
				t.Errorf("the pixel is %g; want %g", got, c.want)
			}
			if change <= 0 {
				t.Errorf("a mean change of %g", change)
			}
		})
	}
}

// TestEditorLeaves: a gradient without a direction moves nothing.
func TestEditorLeaves(t *testing.T) {
	for name, g := range map[string][]float32{"zero": {0, 0}, "infinite": {float32(math.Inf(1)), 0}} {
		t.Run(name, func(t *testing.T) {
			e := editor{Edit: Edit{Eta: 0.1}, memory: oneStored(t)}
			if change := e.move(0, g); change != 0 || e.memory.Item(0).Pixels[0] != 0.5 {
				t.Errorf("the pixel is %g, a mean change of %g", e.memory.Item(0).Pixels[0], change)
			}
		})
	}
}

// oneStored returns a memory of one sample, of two pixels of 0.5.
func oneStored(t *testing.T) *memory.Store {
	t.Helper()
	m := must.Get(memory.NewStore(memory.Config{Policy: "per_class", Budget: 1}, 1))(t)
	m.Add([]memory.Item{{Task: 1, Class: 0, Pixels: []float32{0.5, 0.5}}})
	return m
}
