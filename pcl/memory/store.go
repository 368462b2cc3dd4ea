// Package memory is the rehearsal store: which samples of finished tasks are kept, how a batch of
// them is drawn, and how their pixels are changed in place (docs/protocol.md §2.4).
package memory

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// Config is the budget of a store in samples. Budget 0 keeps nothing.
//
// The policy "per_class" keeps Budget samples of each class, from the start. "fixed_total" shares
// Budget samples among all stored classes: ⌊Budget/#classes⌋ each. Old classes are then thinned out
// when new ones come, and if there are more classes than places, Budget of them, chosen at random,
// keep one sample each.
type Config struct {
	Policy string `json:"policy" param:"policy,required" default:"per_class" choices:"per_class,fixed_total" doc:"what the budget counts"`
	Budget int    `json:"budget" param:"budget,required" default:"5" range:"whole [0,1073741824]" flag:"memory" doc:"samples that the memory keeps, of each class or in total"`
}

func (c Config) perClass() bool { return c.Policy == "per_class" }

// Item is one stored sample. A store refuses samples with a pixel, logit or score that is not
// finite: their loss would not be finite either, so that every step that replays them would leave
// the memory out, and a score that is not finite could not be saved. The slices of a stored sample
// are never changed: an edit puts others in their place.
type Item struct {
	Task, Class int
	Pixels      []float32 // in [0,1]; owned by the store once added
	Logits      []float32 // of the model when it was stored, for methods that ask for them
	Score       float64   // for methods that select samples by a score
	Edits       int       // how often its pixels were changed
	Original    []float32 // pixels before the first edit; nil if there was none
}

// finite says whether a store may take the sample.
func (it Item) finite() bool {
	return fp.Finite(it.Pixels) && fp.Finite(it.Logits) && it.Score-it.Score == 0
}

// Store holds samples of finished tasks and draws batches of them.
type Store struct {
	config Config
	items  []Item
	rng    *seed.Source
	order  []int // a permutation of the items
	next   int   // position in order

	marked bool // a mark shares the list of items, which is copied before it changes
}

// NewStore returns an empty store; runSeed, the seed of the run, is that of its selections and
// batches.
func NewStore(c Config, runSeed uint64) (*Store, error) {
	full := c
	if err := params.Fill(&full); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return &Store{config: c, rng: seed.New(runSeed, "memory")}, nil
}

// Len returns the number of stored samples.
func (s *Store) Len() int { return len(s.items) }

// Item returns a stored sample; its slices are the store's own and must not be changed.
func (s *Store) Item(i int) Item { return s.items[i] }

// Items returns stored samples; their slices are the store's own and must not be changed.
func (s *Store) Items(indices []int) []Item {
	items := make([]Item, len(indices))
	for k, i := range indices {
		items[k] = s.items[i]
	}
	return items
}

// Quota is the largest number of samples of one class that a task with these classes can contribute
// now. It is 0 only if the budget is 0.
func (s *Store) Quota(classes []int) int {
	if s.config.perClass() || s.config.Budget == 0 {
		return s.config.Budget
	}
	seen := map[int]bool{}
	for _, it := range s.items {
		seen[it.Class] = true
	}
	for _, c := range classes {
		seen[c] = true
	}
	return max(1, s.config.Budget/max(1, len(seen)))
}

// Capacity is how many samples the store can hold when it is filled while tasks run, given the
// number of classes met so far.
func (s *Store) Capacity(classes int) int {
	if s.config.perClass() {
		return s.config.Budget * classes
	}
	return s.config.Budget
}

// Add takes in the candidates of a finished task, at most the quota of each class, chosen at
// random. It thins out what is stored already if the policy asks for it. Several tasks that have
// the same class share its places. Samples that are not finite, or that have another number of
// pixels than the others, are passed over.
func (s *Store) Add(candidates []Item) { s.addTo(slices.Clone(s.items), candidates, s.choose) }

// Rerank puts samples of a task, in order of preference within each class, in the place of those
// that are stored of it: the first ones stay, now and when the store is thinned out later. Without
// any, nothing changes.
func (s *Store) Rerank(task int, samples []Item) {
	s.addTo(slices.DeleteFunc(slices.Clone(s.items), func(it Item) bool { return it.Task == task }), samples, first)
}

func first(indices []int, n int) []int { return indices[:min(n, len(indices))] }

// part is the samples that one task has of one class.
type part struct{ task, class int }

// addTo adds candidates to those of the stored samples that stay.
func (s *Store) addTo(all, candidates []Item, choose func(indices []int, n int) []int) {
	old := len(all)
	for _, it := range candidates {
		if it.finite() && fit(all, it.Pixels) {
			all = append(all, it)
		}
	}
	if s.config.Budget == 0 || len(all) == old {
		return
	}
	s.keep(all, choose)
}

// keep fills the places with samples and drops the rest.
func (s *Store) keep(all []Item, choose func(indices []int, n int) []int) {
	members := map[part][]int{}
	var order []part
	for i, it := range all {
		p := part{it.Task, it.Class}
		if members[p] == nil {
			order = append(order, p)
		}
		members[p] = append(members[p], i)
	}
	places := s.places(order, members)
	var kept []Item
	for _, p := range order {
		for _, i := range choose(members[p], places[p]) {
			kept = append(kept, all[i])
		}
	}
	s.replaceAll(kept)
}

// replaceAll makes the samples the stored ones.
func (s *Store) replaceAll(items []Item) {
	s.items, s.marked = items, false
	s.order, s.next = nil, 0
}

// places shares each class's places among the tasks that have it, in turn and the latest task
// first, so that no place stays empty while a task has a sample for it.
func (s *Store) places(order []part, members map[part][]int) map[part]int {
	tasks := map[int][]part{} // of each class, the latest first
	var classes []int
	for _, p := range order {
		if tasks[p.class] == nil {
			classes = append(classes, p.class)
		}
		tasks[p.class] = slices.Insert(tasks[p.class], 0, p)
	}
	quota := s.config.Budget
	if !s.config.perClass() {
		if quota /= len(classes); quota == 0 {
			quota, classes = 1, s.some(classes, s.config.Budget)
		}
	}
	out := map[part]int{}
	for _, c := range classes {
		for left, given := quota, true; left > 0 && given; {
			given = false
			for _, p := range tasks[c] {
				if left > 0 && out[p] < len(members[p]) {
					out[p]++
					left, given = left-1, true
				}
			}
		}
	}
	return out
}

// Put puts a sample in the place of sample i or, if i is Len, adds it, whatever the budget says. It
// is for methods that fill the store themselves, and copies the pixels. If the sample is not
// finite, or has no pixels or another number of them than the others, Put returns false and changes
// nothing.
func (s *Store) Put(i int, it Item) bool {
	if !it.finite() || !s.fits(it.Pixels) {
		return false
	}
	if i == len(s.items) {
		s.replaceAll(append(slices.Clip(s.items), Item{}))
	}
	it.Pixels = slices.Clone(it.Pixels)
	*s.at(i) = it
	return true
}

// fits says whether a sample has as many pixels as those that are stored.
func (s *Store) fits(pixels []float32) bool { return fit(s.items, pixels) }

func fit(items []Item, pixels []float32) bool {
	return len(pixels) > 0 && (len(items) == 0 || len(pixels) == len(items[0].Pixels))
}

// Edit changes the pixels of sample i. If they are not finite, or not as many, it returns false and
// changes nothing.
func (s *Store) Edit(i int, pixels []float32) bool {
	if !fp.Finite(pixels) || !s.fits(pixels) {
		return false
	}
	it := s.at(i)
	if it.Original == nil {
		it.Original = it.Pixels
	}
	it.Pixels = slices.Clone(pixels)
	it.Edits++
	return true
}

// SetLogits changes the logits stored with sample i. If they are not finite, it returns false and
// changes nothing.
func (s *Store) SetLogits(i int, logits []float32) bool {
	if !fp.Finite(logits) {
		return false
	}
	s.at(i).Logits = slices.Clone(logits)
	return true
}

// SetScore changes the score of sample i. If it is not finite, it returns false and changes
// nothing.
func (s *Store) SetScore(i int, score float64) bool {
	if score-score != 0 {
		return false
	}
	s.at(i).Score = score
	return true
}

// at returns sample i to be changed.
func (s *Store) at(i int) *Item {
	if s.marked {
		s.items, s.marked = slices.Clone(s.items), false
	}
	return &s.items[i]
}

// choose returns at most n of the indices, uniformly at random, in their old order.
func (s *Store) choose(indices []int, n int) []int {
	if len(indices) <= n {
		return indices
	}
	return s.some(indices, n)
}

// some returns n of the values, uniformly at random, in their old order.
func (s *Store) some(values []int, n int) []int {
	picked := s.rng.Perm(len(values))[:n]
	slices.Sort(picked)
	out := make([]int, n)
	for k, p := range picked {
		out[k] = values[p]
	}
	return out
}

// Draw returns the indices of a batch of at most n distinct samples. Batches come from a shuffled
// pass over the store; a new pass begins when fewer than n samples are left. A store of up to n
// samples is returned whole.
func (s *Store) Draw(n int) []int {
	if n = min(n, len(s.items)); n <= 0 {
		return nil
	}
	if s.order == nil || s.next+n > len(s.order) {
		s.order, s.next = s.rng.Perm(len(s.items)), 0
	}
	batch := slices.Clone(s.order[s.next : s.next+n])
	s.next += n
	return batch
}

// Snapshot returns what takes the store back to what it is now, as long as no other snapshot was
// taken: the same samples are stored, as they are, and the same draws are made again.
func (s *Store) Snapshot() (restore func()) {
	s.marked = true
	items, draws, order, next := s.items, s.rng.Mark(), s.order, s.next
	return func() {
		s.items, s.order, s.next = items, order, next
		s.rng.Return(draws)
	}
}

// setBudget changes the budget. If it becomes smaller, the store is thinned out at once, since a
// method that fills the store itself would never do so: the first samples of each task and class
// stay, which are the preferred ones where they are ranked.
func (s *Store) setBudget(budget int) {
	smaller := budget < s.config.Budget
	if s.config.Budget = budget; smaller && len(s.items) > 0 {
		s.keep(s.items, first)
	}
}
