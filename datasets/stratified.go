package datasets

import (
	"math"
	"math/rand/v2"
	"slices"
)

// stratified splits the indices of labels in two, class by class: about frac of each class goes
// first, the rest second, both ascending. A class of two or more has at least one on either side.
// Each class is shuffled with its own random stream, so the same labels, frac and seed always
// give the same split and classes do not influence each other.
func stratified(labels []int32, frac float64, seed uint64) (first, second []int) {
	byClass := map[int32][]int{}
	for i, l := range labels {
		byClass[l] = append(byClass[l], i)
	}
	for l, members := range byClass {
		rng := rand.New(rand.NewPCG(seed, uint64(uint32(l))))
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		n := int(math.Round(frac * float64(len(members))))
		if len(members) > 1 {
			n = min(max(n, 1), len(members)-1)
		}
		first = append(first, members[:n]...)
		second = append(second, members[n:]...)
	}
	slices.Sort(first)
	slices.Sort(second)
	return first, second
}

// divide makes a stratified split of some images the training and test samples of d.
func (d *Dataset) divide(all Split, frac float64, seed uint64) {
	pick := func(indices []int) Split {
		return Split{Pixels: rowsOf(all.Pixels, d.ImageSize(), indices), Labels: rowsOf(all.Labels, 1, indices)}
	}
	train, test := stratified(all.Labels, frac, seed)
	d.Train, d.Test = pick(train), pick(test)
}

// rowsOf copies the rows of a table, nil if there is none.
func rowsOf[T any](x []T, size int, indices []int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, 0, len(indices)*size)
	for _, i := range indices {
		out = append(out, x[i*size:(i+1)*size]...)
	}
	return out
}
