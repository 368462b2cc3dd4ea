package datasets

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStratified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOf(rapid.Int32Range(0, 5)).Draw(t, "labels")
		frac := rapid.Float64Range(0.01, 0.99).Draw(t, "frac")
		seed := rapid.Uint64().Draw(t, "seed")
		first, second := stratified(labels, frac, seed)
		if !slices.IsSorted(first) || !slices.IsSorted(second) {
			t.Error("not ascending")
		}
		all := slices.Sorted(slices.Values(slices.Concat(first, second)))
		for i, v := range all {
			if i != v || len(all) != len(labels) {
				t.Fatalf("%v and %v are not a partition of %d", first, second, len(labels))
			}
		}
		count, got := map[int32]int{}, map[int32]int{}
		for _, l := range labels {
			count[l]++
		}
		for _, i := range first {
			got[labels[i]]++
		}
		for l, n := range count {
			if math.Abs(float64(got[l])-frac*float64(n)) > 1 || n > 1 && (got[l] == 0 || got[l] == n) {
				t.Errorf("class %d: %d of %d in the first part, fraction %v", l, got[l], n, frac)
			}
		}
		again, _ := stratified(labels, frac, seed)
		if !slices.Equal(first, again) {
			t.Error("the same seed gives another split")
		}
	})
}

func TestStratifiedSeeds(t *testing.T) {
	labels := make([]int32, 100)
	a, _ := stratified(labels, 0.5, 1)
	b, _ := stratified(labels, 0.5, 2)
	if cmp.Equal(a, b) {
		t.Error("two seeds give the same split")
	}
}
