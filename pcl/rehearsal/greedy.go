package rehearsal

import (
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Greedy is the part "greedy": the memory is filled while tasks run, with an equal number of
// samples of each class (docs/method.md §5.8).
type Greedy struct{}

func init() {
	Register(Info{
		Name: "greedy", Title: "greedy balanced memory",
		Does: "the memory takes samples while tasks run: as long as there is room, and then in place of one of a class " +
			"with the most samples",
		Source: "Prabhu, Torr & Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual Learning, ECCV " +
			"2020",
		Cost: "none", State: "only the memory",
		Axes: []string{"selection"},
	}, func() Part { return new(Greedy) })
}

// Join sets what fills the memory.
func (*Greedy) Join(r *Rehearsal) error {
	r.Store = storing(storeGreedily)
	return nil
}

// storeGreedily takes in samples while there is room, and then in place of one of a largest class.
func storeGreedily(ctx Context, current [][]memory.Item) error {
	g := balance(ctx.Memory())
	for _, batch := range current {
		for _, it := range batch {
			g.offer(it, ctx.Rand())
		}
	}
	return nil
}

// greedy is a store with the places of each class.
type greedy struct {
	store *memory.Store
	order []int // classes, by first appearance
	at    map[int][]int
}

func balance(s *memory.Store) *greedy {
	at, order := grouped(s.Len(), func(i int) int { return s.Item(i).Class })
	return &greedy{s, order, at}
}

func (g *greedy) offer(it memory.Item, r *rand.Rand) {
	if _, met := g.at[it.Class]; !met {
		g.order, g.at[it.Class] = append(g.order, it.Class), nil
	}
	if n := g.store.Len(); n < g.store.Capacity(len(g.order)) {
		if g.store.Put(n, it) {
			g.at[it.Class] = append(g.at[it.Class], n)
		}
		return
	}
	largest := g.largest()
	if len(largest) == 0 || len(g.at[it.Class]) >= len(g.at[largest[0]]) {
		return
	}
	victim := largest[r.IntN(len(largest))]
	k := r.IntN(len(g.at[victim]))
	i := g.at[victim][k]
	if g.store.Put(i, it) {
		g.at[victim] = slices.Delete(g.at[victim], k, k+1)
		g.at[it.Class] = append(g.at[it.Class], i)
	}
}

// largest lists the classes with the most samples.
func (g *greedy) largest() (classes []int) {
	most := 0
	for _, c := range g.order {
		if n := len(g.at[c]); n > most {
			most, classes = n, nil
		}
		if len(g.at[c]) == most {
			classes = append(classes, c)
		}
	}
	return classes
}
