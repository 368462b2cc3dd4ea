package analytic

// Map is a classifier as other programs compute it. From 8-bit features c it makes columns h: c
// itself, or min(255, ⌊max(0, c·Projection)/Divide⌋) if there is a projection. The scores of the
// classes are h·Weights + Added, divided by the length of h if Unit says so.
type Map struct {
	Classes    []int
	Projection [][]float32 // a row of ±1 for each feature; nil if there is none
	Divide     int
	Weights    [][]float64 // a row for each column
	Added      []float64
	Unit       bool
}

// Map returns the classifier.
func (w *Weights) Map() Map {
	m := Map{Classes: w.classes, Weights: w.w, Added: w.added, Unit: w.unit, Divide: 1}
	if h, projects := w.head.(*RanPAC); projects {
		m.Projection, m.Divide = h.draw(w.features).rows(h.M), fraction
	}
	return m
}

// rows returns R.
func (r *signs) rows(columns int) [][]float32 {
	out := make([][]float32, r.d)
	for i := range out {
		out[i] = make([]float32, columns)
		for j := range out[i] {
			out[i][j] = float32(int(r.groups[i/inGroup][j]>>(i%inGroup)&1)*2 - 1)
		}
	}
	return out
}
