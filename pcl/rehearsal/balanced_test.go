package rehearsal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// storeOf has the given numbers of samples of classes 0, 1, …
func storeOf(t *testing.T, counts ...int) *memory.Store {
	t.Helper()
	s := must.Get(memory.NewStore(memory.Config{Policy: "per_class", Budget: 100}, 1))(t)
	for class, n := range counts {
		for range n {
			s.Put(s.Len(), memory.Item{Task: 1, Class: class, Pixels: []float32{0}})
		}
	}
	return s
}

// TestBalanced draws 4 of 20 + 4 samples of two classes many times: both have half of the places,
// each of their samples is as likely as the others of its class, and none comes twice.
func TestBalanced(t *testing.T) {
	s, r := storeOf(t, 20, 4), rand.New(rand.NewPCG(1, 2))
	const draws = 20000
	count := make([]float64, s.Len())
	for range draws {
		batch := balanced(s, 4, r)
		if len(batch) != 4 || len(slices.Compact(slices.Sorted(slices.Values(batch)))) != 4 {
			t.Fatalf("a batch %v", batch)
		}
		for _, i := range batch {
			count[i]++
		}
	}
	for i, n := range count {
		expected := draws * 2.0 / []float64{20, 4}[s.Item(i).Class]
		if math.Abs(n-expected) > 5*math.Sqrt(expected) {
			t.Errorf("sample %d of class %d was drawn %g times, expected %g", i, s.Item(i).Class, n, expected)
		}
	}
}

// TestBalancedAll: a batch with room for all samples has all of them, and one of no samples is
// empty.
func TestBalancedAll(t *testing.T) {
	s, r := storeOf(t, 3, 1, 2), rand.New(rand.NewPCG(1, 2))
	if got := slices.Sorted(slices.Values(balanced(s, 9, r))); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("of 6 samples a batch of 9 has %v", got)
	}
	if got := balanced(storeOf(t), 9, r); len(got) != 0 {
		t.Errorf("of no samples a batch has %v", got)
	}
	if first := balanced(storeOf(t, 9, 9, 9), 4, rand.New(rand.NewPCG(3, 4))); !slices.Equal(first,
		balanced(storeOf(t, 9, 9, 9), 4, rand.New(rand.NewPCG(3, 4)))) {
		t.Error("the same seed draws another batch")
	}
}

// memoryOnly is a ReplayContext of nothing but a memory.
type memoryOnly struct {
	ReplayContext
	store *memory.Store
	rng   *rand.Rand
}

func (l memoryOnly) Memory() *memory.Store { return l.store }
func (l memoryOnly) Batch() int            { return 4 }
func (l memoryOnly) Rand() *rand.Rand      { return l.rng }

// TestBalancedRows: with two draws of der-pp, both are balanced.
func TestBalancedRows(t *testing.T) {
	r := must.Get(New(&Distill{}, &BalancedReplay{}))(t)
	ctx, rare := memoryOnly{store: storeOf(t, 40, 4), rng: rand.New(rand.NewPCG(5, 6))}, map[int]int{}
	const steps = 2000
	for range steps {
		rows, err := replayer{r}.Replays(ctx)
		if err != nil || len(rows) != 2 {
			t.Fatalf("rows %v, %v", rows, expect.Text(err))
		}
		for _, row := range rows {
			for _, i := range row.Indices {
				rare[row.ID] += ctx.store.Item(i).Class
			}
		}
	}
	for id, n := range rare {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			if share := float64(n) / steps / 4; math.Abs(share-.5) > .03 {
				t.Errorf("row %d: %.2f of the places are of the rare class, want half", id, share)
			}
		})
	}
}
