package device

import (
	"math"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// Descent makes the steps of [optim.Adam] and [optim.AdamW] on the host, on all cores, in memory that the device shares with it.
// The results are, to the bit, those of the program that XLA makes of [graphs.Set.Update], which takes one core, and on its way
// there and back as long again as for its work.
type Descent struct {
	shared int
	d      []float32
	by     adamScalars
	decay  float32 // λ
}

// adamScalars are γ and the two bias corrections, which change from step to step, β₁, 1−β₁, β₂, 1−β₂, ε, and γλ.
type adamScalars [9]float32

// NewDescent returns nil if the optimiser, the backend or the processor needs the program.
func NewDescent(s *graphs.Set) *Descent {
	o, ok := optim.AdamOf(s.Optimizer)
	if !ok || !onHost(s) {
		return nil
	}
	return &Descent{s.Shared, make([]float32, s.Total()), adamScalars{
		3: float32(o.Beta1), float32(1 - o.Beta1), float32(o.Beta2), float32(1 - o.Beta2), float32(o.Epsilon),
	}, float32(o.WeightDecay)}
}

// onHost says that the functions in assembly have the bits of the set's programs.
func onHost(s *graphs.Set) bool {
	return fused && s.Backend.Name() == "xla" && s.Backend.HasSharedBuffers()
}

// direction sets d to Σ wᵢ·rowsᵢ over the shared parameters, and to the sum of the rows over the private ones.
func direction(d []float32, shared int, w []float64, rows []compute.Buffer) error {
	weights, j := Single(w), make([][]float32, len(rows))
	for i, b := range rows {
		var err error
		if j[i], err = Host(b, len(d)); err != nil {
			return err
		}
	}
	if len(j) > 1 { // XLA rounds the second product, and adds all others to it unrounded
		weights[0], weights[1] = weights[1], weights[0]
		j[0], j[1] = j[1], j[0]
	}
	inBlocks(shared, func(from, to int) { combine(d, weights, j, from, to) })
	combine(d, slices.Repeat([]float32{1}, len(j)), j, shared, len(d))
	return nil
}

// Step changes the state, which is θ and its moments, by a step along d = Σ wᵢ·rowsᵢ. It returns ‖d‖² over the shared
// parameters. If d is not finite it changes nothing, and returns ∞.
func (a *Descent) Step(state [][]float32, w []float64, rows []compute.Buffer, scalars []float32) (float64, error) {
	if err := direction(a.d, a.shared, w, rows); err != nil {
		return 0, err
	}
	norm2 := squares(a.d[:a.shared])
	if all := norm2 + squares(a.d[a.shared:]); math.IsNaN(all) || math.IsInf(all, 0) {
		return math.Inf(1), nil
	}
	copy(a.by[:3], scalars)
	a.by[8] = a.decay * scalars[0]
	inBlocks(len(a.d), func(from, to int) { a.adam(state, from, to) })
	return norm2, nil
}

// inBlocks calls f with the parts of 0 to n, on all cores.
func inBlocks(n int, f func(from, to int)) {
	const size = 1 << 13
	share((n+size-1)/size, func(i int) { f(i*size, min(n, (i+1)*size)) })
}

// combine sets some entries of out to the weighted sum of the rows'.
func combine(out, w []float32, rows [][]float32, from, to int) {
	at, whole := make([]*float32, len(rows)), from+(to-from)&^7
	if whole > from {
		for i, g := range rows {
			at[i] = &g[from]
		}
		combine8(whole-from, len(rows), &out[from], &at[0], &w[0])
	}
	if whole < to {
		ends := make([][8]float32, len(rows))
		for i, g := range rows {
			copy(ends[i][:], g[whole:to])
			at[i] = &ends[i][0]
		}
		var sum [8]float32
		combine8(8, len(rows), &sum[0], &at[0], &w[0])
		copy(out[whole:to], sum[:])
	}
}

// adam makes a step of some of the parameters.
func (a *Descent) adam(state [][]float32, from, to int) {
	whole := from + (to-from)&^7
	if whole > from {
		adam8(whole-from, &a.d[from], &state[0][from], &state[1][from], &state[2][from], &a.by)
	}
	if whole < to {
		var d [8]float32
		var ends [3][8]float32
		copy(d[:], a.d[whole:to])
		for i, x := range state {
			copy(ends[i][:], x[whole:to])
		}
		adam8(8, &d[0], &ends[0][0], &ends[1][0], &ends[2][0], &a.by)
		for i, x := range state {
			copy(x[whole:to], ends[i][:])
		}
	}
}

// squares returns ‖x‖² with the sums of [graphs.Set.Update].
func squares(x []float32) float64 {
	whole := len(x) &^ 63
	var columns [][64]float32
	inWindows(whole/64, func(from, to int) {
		columns = append(columns, [64]float32{})
		squares64(64*(to-from), &x[64*from], &columns[len(columns)-1])
	})
	sums := addUp(columns, func(a *[64]float32, b [64]float32) {
		for i := range a {
			a[i] += b[i]
		}
	})
	end := make([]float32, len(x)-whole)
	for i, x := range x[whole:] {
		if end[i] = x * x; end[i] < 0x1p-126 { // as the functions in assembly have it
			end[i] = 0
		}
	}
	add := func(a *float64, b float64) { *a += b }
	return addUp(doubles(sums[:]), add) + addUp(doubles(end), add)
}

// addUp adds up as XLA does: windows, and then the windows' sums in the same way.
func addUp[T any](x []T, add func(to *T, one T)) (sum T) {
	for len(x) > 1 {
		var sums []T
		inWindows(len(x), func(from, to int) {
			var window T
			for _, one := range x[from:to] {
				add(&window, one)
			}
			sums = append(sums, window)
		})
		x = sums
	}
	if len(x) > 0 {
		sum = x[0]
	}
	return sum
}

// inWindows calls f with the windows of 0 to n: of 32 each, but for the first and the last, which share what is missing.
func inWindows(n int, f func(from, to int)) {
	windows := (n + 31) / 32
	at := -(32*windows - n) / 2
	for range windows {
		f(max(0, at), min(n, at+32))
		at += 32
	}
}

func doubles(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, x := range x {
		out[i] = float64(x)
	}
	return out
}
