package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Stratified splits the indices of labels in two, class by class: about frac of each class goes
// first, the rest second, both ascending. A class of two or more has at least one on either side.
// Each class is shuffled with its own random stream, so the same labels, frac and seed always
// give the same split and classes do not influence each other.
func Stratified(labels []int32, frac float64, seed uint64) (first, second []int, err error) {
	if !(frac > 0 && frac < 1) {
		return nil, nil, fmt.Errorf("datasets: stratified split: fraction %v: want more than 0 and less than 1", frac)
	}
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
	return first, second, nil
}

// pick copies the samples at the given indices, each of which has size values.
func pick(s *Split, size int, indices []int) Split {
	out := Split{Labels: make([]int32, 0, len(indices))}
	if s.Values != nil {
		out.Values = make([]float32, 0, len(indices)*size)
	} else {
		out.Pixels = make([]uint8, 0, len(indices)*size)
	}
	for _, i := range indices {
		if s.Values != nil {
			out.Values = append(out.Values, s.Values[i*size:(i+1)*size]...)
		} else {
			out.Pixels = append(out.Pixels, s.Pixels[i*size:(i+1)*size]...)
		}
		out.Labels = append(out.Labels, s.Labels[i])
	}
	return out
}
