package rehearsal

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// offered fills a store from a list of samples.
func offered(t *testing.T, c memory.Config, samples []memory.Item) map[int]int {
	t.Helper()
	store := must.Get(memory.NewStore(c, 1))(t)
	r := rand.New(rand.NewPCG(1, 9))
	for len(samples) > 0 {
		g, n := balance(store), min(16, len(samples))
		for _, it := range samples[:n] {
			g.offer(it, r)
		}
		samples = samples[n:]
	}
	counts := map[int]int{}
	for i := range store.Len() {
		counts[store.Item(i).Class]++
	}
	return counts
}

// TestGDumbBalances: in a store of fixed size the counts of classes that came often enough differ
// by at most 1, whatever the order, and those that did not are all there. One that grows with the
// classes keeps the budget of each.
func TestGDumbBalances(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for i := range 200 {
		c := []memory.Config{{Policy: "per_class", Budget: 1 + r.IntN(6)},
			{Policy: "fixed_total", Budget: 8 + r.IntN(30)}}[i%2]
		var samples []memory.Item
		seen := map[int]int{}
		for class := range 2 + r.IntN(6) {
			seen[class] = 1 + r.IntN(40)
			for range seen[class] {
				samples = append(samples, memory.Item{Task: 1 + class/3, Class: class, Pixels: []float32{0}})
			}
		}
		if i%4 < 2 { // in parallel, else one class after another
			r.Shuffle(len(samples), func(a, b int) { samples[a], samples[b] = samples[b], samples[a] })
		}
		counts, most, total := offered(t, c, samples), 0, 0
		for _, n := range counts {
			most, total = max(most, n), total+n
		}
		capacity := c.Budget
		if c.Policy == "per_class" {
			capacity *= len(seen)
		}
		if total > capacity || i%4 < 2 && total != min(capacity, len(samples)) {
			t.Errorf("%v: %d samples of %d in %d places", c, total, len(samples), capacity)
		}
		for key, n := range seen {
			least := most - 1
			if c.Policy == "per_class" {
				least = c.Budget
			}
			if counts[key] < min(n, least) {
				t.Errorf("%v: class %v has %d of %d samples, the largest class %d", c, key, counts[key], n, most)
			}
		}
	}
}

// TestGDumbEvictsAtRandom: 5 of 50 samples of a class survive with equal chance after others came.
func TestGDumbEvictsAtRandom(t *testing.T) {
	var kept [10]float64
	r := rand.New(rand.NewPCG(4, 9))
	for range 2000 {
		store := must.Get(memory.NewStore(memory.Config{Policy: "fixed_total", Budget: 10}, 1))(t)
		g := balance(store)
		for class := range 2 {
			for i := range 10 {
				g.offer(memory.Item{Task: 1, Class: class, Pixels: []float32{float32(i)}}, r)
			}
		}
		for i := range store.Len() {
			if it := store.Item(i); it.Class == 0 {
				kept[int(it.Pixels[0])]++
			}
		}
	}
	for i, n := range kept {
		if math.Abs(n-1000) > 112 { // 5 standard deviations
			t.Errorf("sample %d was kept %g times of about 1000: %v", i, n, kept)
			break
		}
	}
}
