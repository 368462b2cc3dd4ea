package rehearsal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// TestCutMix: the second label's share is the part of the picture that came from its sample.
func TestCutMix(t *testing.T) {
	l, r := newSmallModel(t, 6, 12, memory.Config{Policy: "per_class", Budget: 6}), rand.New(rand.NewPCG(1, 7))
	var batch []memory.Item
	for i := range 5 {
		batch = append(batch, memory.Item{Task: 1, Class: i, Pixels: slices.Repeat([]float32{float32(i)}, 12)})
	}
	mean, rounds := 0.0, 0.0
	for range 2000 {
		samples, shares, err := cutmix(l, batch, r)
		must.Do(t, err)
		for i := 0; i < len(samples); i += 2 {
			a, b := samples[i], samples[i+1]
			if a.Class != i/2 || !slices.Equal(a.Pixels, b.Pixels) {
				t.Fatalf("picture %d has labels %d and %d", i/2, a.Class, b.Class)
			}
			part := 0.0
			for p, x := range a.Pixels {
				if int(x) == b.Class {
					part += 1. / 12
				}
				if p%3 != 0 && x != a.Pixels[p-1] { // channels last: three values a pixel
					t.Fatalf("a pixel was cut: %v", a.Pixels)
				}
			}
			if a.Class != b.Class && math.Abs(5*shares[i+1]-part) > 1e-6 || math.Abs(shares[i]+shares[i+1]-.2) > 1e-12 {
				t.Fatalf("shares %g and %g where %g of the picture is another's", shares[i], shares[i+1], part)
			}
		}
		mean, rounds = mean+5*shares[1], rounds+1
	}
	if mean /= rounds; mean < .25 || mean > .6 {
		t.Errorf("a box has %g of the picture on average", mean)
	}
	for i, it := range batch {
		if it.Pixels[0] != float32(i) || it.Pixels[11] != float32(i) {
			t.Error("the stored pictures changed")
		}
	}
	l.inputs = 2
	if _, _, err := cutmix(l, batch, r); err == nil {
		t.Error("samples that are not pictures are mixed")
	}
}
