package viz

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// solved is the step of some gradients.
func solved(t testing.TB, gradients [][]float64, sigma ...float64) (*emgd.Problem, *emgd.Certificate) {
	t.Helper()
	p, err := emgd.FromGradients(gradients)
	if err != nil {
		t.Fatal(err)
	}
	c, err := new(emgd.Solver).Solve(p, sigma)
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

// The plane keeps lengths and angles where the gradients lie in one with d, and their components
// along d always.
func TestPlane(t *testing.T) {
	p, c := solved(t, [][]float64{{1, 0, 0}, {0, 2, 0}, {2, 2, 1}}, .2, .3, .5)
	// docs/method.md §9: λ = (3.2, 1.2, 0), d = (3.2, 2.4, 0), ‖d‖ = 4.
	along, across, length := plane(p.Gram(), c.Lambda)
	if !scalar.EqualWithinAbs(length, 4, 1e-12) {
		t.Errorf("‖d‖ = %v, want 4", length)
	}
	for i, want := range []float64{.8, 1.2, 2.8} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if !scalar.EqualWithinAbs(along[i], want, 1e-12) {
				t.Errorf("J%d along d: %v, want %v", i+1, along[i], want)
			}
		})
	}
	// Across d = (.8, .6, 0) the gradients have (.6, 0), (−1.6, 0) and (−.4, 1) on (.6, −.8, 0) and
	// the third axis; their scatter [[3.08, −.4], [−.4, 1]] has the largest eigenvalue 2.04 +
	// √1.2416.
	got := 0.0
	for _, x := range across {
		got += x * x
	}
	if want := 2.04 + math.Sqrt(1.2416); !scalar.EqualWithinAbs(got, want, 1e-12) {
		t.Errorf("Σ across² = %v, want %v", got, want)
	}

	p, c = solved(t, [][]float64{{3, 1}, {-1, 2}}, .5, .5)
	gram := p.Gram()
	along, across, _ = plane(gram, c.Lambda)
	for _, p := range [][2]int{{0, 0}, {0, 1}, {1, 1}} {
		i, j := p[0], p[1]
		if dot := along[i]*along[j] + across[i]*across[j]; !scalar.EqualWithinAbs(dot, gram[2*i+j], 1e-9) {
			t.Errorf("J%d·J%d is %v in the plane, %v in truth", i+1, j+1, dot, gram[2*i+j])
		}
	}
	if across[0] <= 0 {
		t.Error("the first gradient points downwards")
	}
}

// docs/method.md §2.4: λ₂/λ₁ = (σ₂M₁₁ − σ₁M₁₂)/(σ₁M₂₂ − σ₂M₁₂) inside, 0 and ∞ beyond.
func TestLogRatio(t *testing.T) {
	gram := []float64{1, 1.2, 1.2, 4}
	for s := 0.05; s < 1; s += 0.05 {
		a, b := s*4-(1-s)*1.2, (1-s)*1-s*1.2
		want := math.Log10(b / a)
		switch {
		case a <= 0:
			want = ratioEdge
		case b <= 0:
			want = -ratioEdge
		}
		if got := logRatio(gram, s, 1-s); math.Abs(got-want) > 1e-9 {
			t.Errorf("σ₁ = %.2f: %v, want %v", s, got, want)
		}
	}
}

func TestEndCurve(t *testing.T) {
	a, b := twoTasks(), twoTasks()
	a.Curve[0].Ended, a.Curve[1].Ended = []int{1}, []int{2}
	b.Curve = []results.Point{{Step: 2, Mean: .9}, {Step: 7, Mean: .25, Ended: []int{1, 2}}} // both at once
	c, err := endCurve([]*results.Run{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if want := (curve{{1, 37.5, 12.5, 2}, {2, 50, 25, 2}}); !slices.Equal(c, want) {
		t.Errorf("%v, want %v", c, want)
	}
}

func TestEditedImagePictures(t *testing.T) {
	m := EditedImage{H: 1, W: 2, C: 3, Before: []float32{0, .5, 1, 0, 0, 0}, Gradient: []float32{-2, 0, 1, 0, 0, 0},
		After: []float32{0, .5, 1, .3, .3, .3}}
	switch r, g, b, _ := m.picture(m.stretched()).At(0, 0).RGBA(); {
	case r>>8 != 255:
		t.Errorf("r>>8 is %d; want 255", r>>8)
	case g != 0:
		t.Errorf("g is %d; want 0", g)
	case b>>8 != 128:
		t.Errorf("b>>8 is %d; want 128", b>>8)
	}
	img, largest := m.change()
	if math.Abs(largest-.3) > 1e-6 || img.At(0, 0) != Diverging(0).Light || img.At(1, 0) != Diverging(1).Light {
		t.Errorf("largest change %v, colours %v and %v", largest, img.At(0, 0), img.At(1, 0))
	}
}
