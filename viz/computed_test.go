package viz

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// The plane keeps lengths and angles where the gradients lie in one with d, and their components along
// d always.
func TestPlane(t *testing.T) {
	step, err := Geometry([][]float64{{1, 0, 0}, {0, 2, 0}, {2, 2, 1}}, []float64{.2, .3, .5})
	if err != nil {
		t.Fatal(err)
	}
	// docs/method.md §9: λ = (3.2, 1.2, 0), d = (3.2, 2.4, 0), ‖d‖ = 4.
	along, across, length, err := plane(step.Gram, step.Lambda)
	if err != nil {
		t.Fatal(err)
	}
	if !scalar.EqualWithinAbs(length, 4, 1e-12) || !scalar.EqualWithinAbs(step.NormD, 4, 1e-12) {
		t.Errorf("‖d‖ = %v and %v, want 4", length, step.NormD)
	}
	for i, want := range []float64{.8, 1.2, 2.8} {
		if !scalar.EqualWithinAbs(along[i], want, 1e-12) {
			t.Errorf("J%d along d: %v, want %v", i+1, along[i], want)
		}
	}
	// Across d = (.8, .6, 0) the gradients have (.6, 0), (−1.6, 0) and (−.4, 1) on (.6, −.8, 0) and the
	// third axis; their scatter [[3.08, −.4], [−.4, 1]] has the largest eigenvalue 2.04 + √1.2416.
	got := 0.0
	for _, x := range across {
		got += x * x
	}
	if want := 2.04 + math.Sqrt(1.2416); !scalar.EqualWithinAbs(got, want, 1e-12) {
		t.Errorf("Σ across² = %v, want %v", got, want)
	}
	if _, _, _, err := plane([]float64{1, -1, -1, 1}, []float64{1, 1}); err == nil {
		t.Errorf("d = 0: %v", err)
	}

	flat, err := Geometry([][]float64{{3, 1}, {-1, 2}}, []float64{.5, .5})
	if err != nil {
		t.Fatal(err)
	}
	if along, across, _, err = plane(flat.Gram, flat.Lambda); err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]int{{0, 0}, {0, 1}, {1, 1}} {
		i, j := p[0], p[1]
		if dot := along[i]*along[j] + across[i]*across[j]; !scalar.EqualWithinAbs(dot, flat.Gram[2*i+j], 1e-9) {
			t.Errorf("J%d·J%d is %v in the plane, %v in truth", i+1, j+1, dot, flat.Gram[2*i+j])
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
		got, err := logRatio(gram, []float64{s, 1 - s})
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("σ₁ = %.2f: %v (%v), want %v", s, got, err, want)
		}
	}
}

func TestCosines(t *testing.T) {
	records := []results.Record{
		{Step: 0, IDs: []int{1, 2}, Gram: []float64{4, 2, 2, 4}},
		{Step: 1, IDs: []int{0, 2}, Gram: []float64{1, 0, 0, 9}},
		{Step: 2, IDs: []int{0, 1, 2}, Gram: []float64{1, 0, 0, 0, 1, -1, 0, -1, 1}},
	}
	rows, pairs, err := cosines(records)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows.names(); !slices.Equal(got, []string{"memory", "task 1", "task 2"}) {
		t.Errorf("names %q", got)
	}
	for ids, want := range map[[2]int]pair{{1, 2}: {2, -.5, 1}, {2, 1}: {2, -.5, 1}, {0, 2}: {2, 0, 0}, {0, 1}: {1, 0, 0}, {0, 0}: {}} {
		if got := pairs[ids]; got != want {
			t.Errorf("pair %v: %+v, want %+v", ids, got, want)
		}
	}
}

func TestRelativeSlacks(t *testing.T) {
	r := exact()
	got := relativeSlacks(&r) // the third: 3.2/(3·4 + .5·16)
	for i, want := range []float64{0, 0, .16} {
		if !scalar.EqualWithinAbs(got[i], want, 1e-12) {
			t.Errorf("slack %d is %v, want %v", i, got[i], want)
		}
	}
	r.Gram[0], r.Gram[2], r.Gram[6], r.Lambda[0] = 0, 0, 0, 0
	if got := relativeSlacks(&r); !math.IsNaN(got[0]) {
		t.Errorf("a row without a gradient has slack %v", got[0])
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
	if !slices.Equal(c.steps, []float64{1, 2}) || !slices.Equal(c.mean, []float64{37.5, 50}) || !slices.Equal(c.std, []float64{12.5, 25}) {
		t.Errorf("steps %v, mean %v, std %v", c.steps, c.mean, c.std)
	}
}

func TestAccuracyMatrixCells(t *testing.T) {
	acc := func(x float64) *float64 { return &x }
	run := func(x float64) *results.Run {
		r := twoTasks()
		r.Curve = []results.Point{
			{Step: 3, Mean: .5, Ended: []int{1}, Acc: []*float64{acc(x), nil}},
			{Step: 5, Mean: .5, Acc: []*float64{acc(1), acc(1)}}, // between ends
			{Step: 7, Mean: .75, Ended: []int{2}, Acc: []*float64{acc(.5), acc(x)}},
		}
		return r
	}
	m, err := accuracyMatrix(Group{Runs: []*results.Run{run(.2), run(.6)}})
	if err != nil {
		t.Fatal(err)
	}
	if !scalar.EqualWithinAbs(m.cells[0][0], .4, 1e-12) || m.cells[0][1] != .5 || !math.IsNaN(m.cells[1][0]) || !scalar.EqualWithinAbs(m.cells[1][1], .4, 1e-12) {
		t.Errorf("cells %v", m.cells)
	}
	if !slices.Equal(m.outline, [][2]int{{0, 0}, {1, 1}}) || !slices.Equal(m.columns, []string{"1", "2"}) {
		t.Errorf("frames %v, columns %v", m.outline, m.columns)
	}
}

func TestEditedImagePictures(t *testing.T) {
	m := EditedImage{H: 1, W: 2, C: 3, Before: []float32{0, .5, 1, 0, 0, 0}, Gradient: []float32{-2, 0, 1, 0, 0, 0}, After: []float32{0, .5, 1, .3, .3, .3}}
	if r, g, b, _ := m.picture(m.stretched()).At(0, 0).RGBA(); r>>8 != 255 || g != 0 || b>>8 != 128 {
		t.Errorf("edit gradient (−2, 0, 1) is drawn as %d %d %d", r>>8, g>>8, b>>8)
	}
	img, largest := m.change()
	if math.Abs(largest-.3) > 1e-6 || img.At(0, 0) != diverging(0).light || img.At(1, 0) != diverging(1).light {
		t.Errorf("largest change %v, colours %v and %v", largest, img.At(0, 0), img.At(1, 0))
	}
}

// Twenty tasks and the memory, and twelve methods, must find room.
func TestManyStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var ids []int
	var gradients [][]float64
	var sigma []float64
	for id := range 21 {
		g := make([]float64, 30)
		for p := range g {
			g[p] = rng.NormFloat64()
		}
		ids, gradients, sigma = append(ids, id), append(gradients, g), append(sigma, 1.0/21)
	}
	step, err := Geometry(gradients, sigma)
	if err != nil {
		t.Fatal(err)
	}
	step.IDs = ids
	next := step
	next.Step = 1
	records := []results.Record{step, next}
	for name, draw := range map[string]func() (*Figure, error){
		"Conflicts":     func() (*Figure, error) { return Conflicts(records) },
		"StepGeometry":  func() (*Figure, error) { return StepGeometry(step) },
		"StreamWeights": func() (*Figure, error) { return StreamWeights(records) },
		"one record":    func() (*Figure, error) { return Conflicts(records[:1]) },
	} {
		fig, err := draw()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := fig.Encode(new(strings.Builder), "svg"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
