package rehearsal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// TestEditPixels keeps edits in range and out of what is not finite.
func TestEditPixels(t *testing.T) {
	store := must.Get(memory.NewStore(memory.Config{Policy: "per_class", Budget: 6}, 1))(t)
	store.Put(store.Len(), memory.Item{Pixels: []float32{0.5, 0.5, 0.5, 0.5}})
	moves := []float64{1, -10, math.NaN(), math.Inf(1)}
	editPixels(store, 0, 0.25, func(p int) float64 { return moves[p] })
	switch it := store.Item(0); {
	case !slices.Equal(it.Pixels, []float32{0.75, 0, 0.5, 0.5}):
		t.Errorf("it.Pixels is %v; want %v", it.Pixels, []float32{0.75, 0, 0.5, 0.5})
	case it.Edits != 1:
		t.Errorf("it.Edits is %d; want 1", it.Edits)
	}
	editPixels(store, 0, 0, func(p int) float64 { return moves[p] })
	if it := store.Item(0); it.Edits != 1 {
		t.Errorf("an edit that changes nothing was counted: %d", it.Edits)
	}
}

func TestAnyOf(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var seen [5]float64
	for range 3000 {
		got := anyOf([]int{3, 4, 5, 6, 7}, 2, r)
		if len(got) != 2 || got[0] == got[1] {
			t.Fatalf("drew %v, want two", got)
		}
		for _, i := range got {
			seen[i-3]++
		}
	}
	for i, n := range seen {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if math.Abs(n-1200) > 120 { // 4.5 standard deviations
				t.Errorf("%d was drawn %g times of about 1200", i+3, n)
			}
		})
	}
	if got := anyOf([]int{1}, 4, r); !slices.Equal(got, []int{1}) {
		t.Errorf("drew %v of one", got)
	}
}
