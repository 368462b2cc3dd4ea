package device

import (
	"math"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// step makes a step by a program; see [Trainer.Step].
func (p *Set) step(vectors []*compute.Buffer, w []float64, rows []compute.Buffer, scalars []float32) (float64, error) {
	weights, rows, sum, err := p.fold(w, rows)
	if err != nil {
		return 0, err
	}
	defer program.Free(sum)
	update, err := p.update(len(rows))
	if err != nil {
		return 0, err
	}
	out, err := update.Call(vectors, weights, scalars, rows)
	if err != nil {
		return 0, err
	}
	for i, v := range vectors {
		*v = out[i]
	}
	norm2 := out[len(vectors)]
	defer program.Free(norm2)
	read, err := program.Read[float64](norm2, 1)
	if err != nil {
		return 0, err
	}
	return read[0], nil
}

// adam makes the steps of Adam on the host, on all cores, in memory that the device shares with it.
// The results are, to the bit, those of the program that XLA makes of [Set.update]. That program
// uses one core, and calling it takes as long as its work. Doing without it saves 6 to 10 % of a
// step of an MLP.
type adam struct {
	shared  int              // how many parameters are shared; they come first
	vectors []compute.Buffer // θ and the moments, in memory that the device shares with the host
	values  [][]float32      // the values of vectors
	d       []float32        // the direction of the latest step
	by      adamScalars
	decay   float32 // λ
}

// adamScalars are γ and the two bias corrections, which change from step to step, β₁, 1−β₁, β₂,
// 1−β₂, ε, and γλ.
type adamScalars [9]float32

// onHost says whether combine8 and adam8 may stand in for the set's programs: the processor has
// their instructions, and their results are the same to the bit.
func onHost(s *Set) bool { return fused && TakesParts(s.Backend) }

// descends says that the steps of a set's optimiser are made on the host.
func descends(s *Set) bool {
	_, ok := adamOf(s.Optimizer)
	return ok && onHost(s)
}

// adamOf returns the settings, defaults filled in, of an optimiser that makes Adam's steps,
// scheduled or not.
func adamOf(o optim.Optimizer) (optim.Adam, bool) {
	if s, ok := o.(optim.Scheduled); ok {
		return adamOf(s.Optimizer)
	}
	a, ok := o.(optim.Adam)
	_ = params.Fill(&a) // optim.Check has the error
	return a, ok
}

func newAdam(s *Set) *adam {
	o, _ := adamOf(s.Optimizer)
	return &adam{shared: s.Shared, d: make([]float32, s.total()), by: adamScalars{
		3: float32(o.Beta1), float32(1 - o.Beta1), float32(o.Beta2), float32(1 - o.Beta2), float32(o.Epsilon),
	}, decay: float32(o.WeightDecay)}
}

// hostValues returns the values of vectors, to be changed in place. A vector that is not in shared
// memory yet is replaced by a copy that is.
func (a *adam) hostValues(vectors []*compute.Buffer) ([][]float32, error) {
	for i, v := range vectors {
		if i == len(a.vectors) {
			a.vectors, a.values = append(a.vectors, nil), append(a.values, nil)
		}
		if *v == a.vectors[i] {
			continue
		}
		values, shared, err := program.Shared[float32]((*v).Backend(), len(a.d))
		if err != nil {
			return nil, err
		}
		read, err := program.Read[float32](*v, len(a.d))
		if err != nil {
			return nil, err
		}
		copy(values, read)
		program.Free(*v)
		*v, a.vectors[i], a.values[i] = shared, shared, values
	}
	return a.values, nil
}

// step changes θ and its moments by a step along d. If d is not finite it changes nothing, and
// returns ∞.
func (a *adam) step(state [][]float32, w []float64, rows []compute.Buffer, scalars []float32) (float64, error) {
	norm2, private, err := direction(a.d, a.shared, w, rows)
	if err != nil {
		return 0, err
	}
	if all := norm2 + private; math.IsNaN(all) || math.IsInf(all, 0) {
		return math.Inf(1), nil
	}
	copy(a.by[:3], scalars)
	a.by[8] = a.decay * scalars[0]
	const block = 1 << 13
	share((len(a.d)+block-1)/block, func(i int) { a.stepBlock(state, i*block, min(len(a.d), (i+1)*block)) })
	return norm2, nil
}

// stepBlock makes the step of the parameters in [from, to). adam8 takes a multiple of 8, so that
// the last few are changed in a copy that is filled up.
func (a *adam) stepBlock(state [][]float32, from, to int) {
	whole := from + (to-from)&^7
	if whole > from {
		adam8(whole-from, &a.d[from], &state[0][from], &state[1][from], &state[2][from], &a.by)
	}
	if whole < to {
		var ends [4][8]float32
		all := append([][]float32{a.d}, state...)
		for i, x := range all {
			copy(ends[i][:], x[whole:to])
		}
		adam8(8, &ends[0][0], &ends[1][0], &ends[2][0], &ends[3][0], &a.by)
		for i, x := range all {
			copy(x[whole:to], ends[i][:])
		}
	}
}

// direction sets d to Σ wᵢ·rowsᵢ over the shared parameters, and to the sum of the rows over the
// private ones. It returns the squared length of both.
func direction(d []float32, shared int, w []float64, rows []compute.Buffer) (norm2, private float64, err error) {
	weights, j := single(w), make([][]float32, len(rows))
	for i, b := range rows {
		if j[i], err = program.Read[float32](b, len(d)); err != nil {
			return 0, 0, err
		}
	}
	if len(j) > 1 { // XLA rounds the second product first, and then adds each other product to it unrounded
		weights[0], weights[1] = weights[1], weights[0]
		j[0], j[1] = j[1], j[0]
	}
	return combine(d, weights, j, 0, shared), combine(d, ones(len(j)), j, shared, len(d)), nil
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

// combine sets the entries [from, to) of d to Σ wᵢ·rowsᵢ, and returns the sum of their squares. To
// have XLA's bits, it takes the entries as lines of 64, and adds the squares in XLA's order: those
// of one column in float32, by windows of lines, then the 64 sums in float64. The squares of the
// entries behind the last whole line are added in float64.
func combine(d, w []float32, rows [][]float32, from, to int) float64 {
	lines := windows((to - from) / 64)
	columns, equal := make([][64]float32, len(lines)), ones(window)
	share(len(lines), func(i int) {
		var squares [window * 64]float32
		first, n := from+64*lines[i].from, lines[i].to-lines[i].from
		combine8(64*n, len(rows), &d[first], &squares[0], pointers(rows, first), &w[0])
		var at [window]*float32
		for line := range n {
			at[line] = &squares[64*line]
		}
		combine8(64, n, &columns[i][0], &squares[0], &at[0], &equal[0])
	})
	var end []float32
	for at := to - (to-from)%64; at < to; at += 8 {
		var sum, squares [8]float32
		few := make([][]float32, len(rows))
		for i, g := range rows {
			few[i] = append(make([]float32, 0, 8), g[at:min(to, at+8)]...)[:8]
		}
		combine8(8, len(rows), &sum[0], &squares[0], pointers(few, 0), &w[0])
		end = append(end, squares[:copy(d[at:to], sum[:])]...)
	}
	sums := addUp(columns, func(a *[64]float32, b [64]float32) {
		for i := range a {
			a[i] += b[i]
		}
	})
	return sumDouble(sums[:]) + sumDouble(end)
}

// pointers returns a C-style array of pointers: one to the entry at of each row.
func pointers(rows [][]float32, at int) **float32 {
	out := make([]*float32, len(rows))
	for i, g := range rows {
		out[i] = &g[at]
	}
	return &out[0]
}

// sumDouble returns the sum of x in float64, in XLA's order.
func sumDouble(x []float32) float64 {
	out := make([]float64, len(x))
	for i, x := range x {
		out[i] = float64(x)
	}
	return addUp(out, func(a *float64, b float64) { *a += b })
}

// addUp adds up as XLA does: windows, and then the windows' sums in the same way.
func addUp[T any](x []T, add func(to *T, one T)) (sum T) {
	for len(x) > 1 {
		var sums []T
		for _, w := range windows(len(x)) {
			var sum T
			for _, one := range x[w.from:w.to] {
				add(&sum, one)
			}
			sums = append(sums, sum)
		}
		x = sums
	}
	for _, one := range x {
		sum = one
	}
	return sum
}

// window is how many numbers XLA adds up in one go.
const window = 32

// windows divides n numbers into windows. If n is not a multiple of [window], the first window and
// the last one are shorter by about the same number.
func windows(n int) (list []struct{ from, to int }) {
	count := (n + window - 1) / window
	at := -(window*count - n) / 2
	for range count {
		list = append(list, struct{ from, to int }{max(0, at), min(n, at+window)})
		at += window
	}
	return list
}
