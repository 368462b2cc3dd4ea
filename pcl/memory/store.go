// Package memory is the rehearsal store: which samples of finished tasks are kept, how a batch of
// them is drawn, and how their pixels are changed in place (PROTOCOL §2).
package memory

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Policy says what the budget counts.
type Policy string

const (
	// PerClass keeps Budget samples of each class, from the start.
	PerClass Policy = "per_class"
	// FixedTotal shares Budget samples among all stored classes: ⌊Budget/#classes⌋ each. Old
	// classes are thinned out when new ones come.
	FixedTotal Policy = "fixed_total"
)

// Config is the budget of a store. Budget 0 keeps nothing.
type Config struct {
	Policy Policy `json:"policy" toml:"policy"`
	Budget int    `json:"budget" toml:"budget"`
}

// Validate names what is wrong with a configuration.
func (c Config) Validate() error {
	if c.Policy != PerClass && c.Policy != FixedTotal {
		return fmt.Errorf("memory: policy %q is neither %q nor %q", c.Policy, PerClass, FixedTotal)
	}
	if c.Budget < 0 {
		return fmt.Errorf("memory: budget %d is negative", c.Budget)
	}
	return nil
}

// Item is one stored sample.
type Item struct {
	Task, Class int
	Pixels      []float32 // in [0,1]; owned by the store once added
	Logits      []float32 // of the model that stored it, where a method asks for them
	Score       float64   // for methods that select by one
	Edits       int       // how often its pixels were changed
	Origin      []float32 // pixels before the first edit; nil if there was none
}

// Drift is the largest distance of a pixel from where it began, ‖x − x_origin‖∞.
func (it Item) Drift() float64 {
	drift := float32(0)
	for p, x := range it.Origin {
		drift = max(drift, it.Pixels[p]-x, x-it.Pixels[p])
	}
	return float64(drift)
}

// Store holds samples of finished tasks and draws batches of them.
type Store struct {
	config Config
	items  []Item
	rng    *seed.Source
	order  []int // a permutation of the items
	next   int   // position in order

	changes int // how often samples or their pixels changed
}

// NewStore returns an empty store; run is the seed of its selections and batches.
func NewStore(c Config, run uint64) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Store{config: c, rng: seed.New(run, "memory")}, nil
}

// Len returns the number of stored samples.
func (s *Store) Len() int { return len(s.items) }

// Changes counts how often the samples or their pixels have changed since the store was made.
func (s *Store) Changes() int { return s.changes }

// Item returns a stored sample; its Pixels are the store's own.
func (s *Store) Item(i int) Item { return s.items[i] }

// Quota is the most samples of one class that a task of n classes can contribute now. It is 0 only
// where nothing is to be kept: a budget that is too small is for [Store.Add] to refuse.
func (s *Store) Quota(n int) int {
	if s.config.Policy == PerClass || s.config.Budget == 0 {
		return s.config.Budget
	}
	return max(1, s.config.Budget/max(1, s.groups()+n))
}

type group struct{ task, class int }

// groups counts the stored (task, class) pairs.
func (s *Store) groups() int {
	seen := map[group]bool{}
	for _, it := range s.items {
		seen[group{it.Task, it.Class}] = true
	}
	return len(seen)
}

// Capacity is how many samples a store can hold that is filled while tasks of so many classes run.
func (s *Store) Capacity(classes int) int {
	if s.config.Policy == PerClass {
		return s.config.Budget * classes
	}
	return s.config.Budget
}

// Add takes in the candidates of a finished task: at most the quota of each class, chosen at
// random, and thins out what is stored already where the policy asks for it.
func (s *Store) Add(candidates []Item) error { return s.add(candidates, s.choose) }

// AddRanked is Add for candidates that stand in order of preference within each class: the first ones
// stay, now and when the store is thinned out.
func (s *Store) AddRanked(candidates []Item) error {
	return s.add(candidates, func(indices []int, n int) []int { return indices[:min(n, len(indices))] })
}

func (s *Store) add(candidates []Item, choose func(indices []int, n int) []int) error {
	if s.config.Budget == 0 || len(candidates) == 0 {
		return nil
	}
	all := append(slices.Clone(s.items), candidates...)
	members := map[group][]int{}
	var order []group
	for i, it := range all {
		g := group{it.Task, it.Class}
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], i)
	}
	quota := s.config.Budget
	if s.config.Policy == FixedTotal {
		if quota /= len(order); quota == 0 {
			return fmt.Errorf("memory: a fixed total of %d samples cannot hold %d classes; raise the budget", s.config.Budget, len(order))
		}
	}
	kept := make([]Item, 0, len(order)*quota)
	for _, g := range order {
		for _, i := range choose(members[g], quota) {
			kept = append(kept, all[i])
		}
	}
	s.items = kept
	s.changes++
	s.order, s.next = nil, 0
	return nil
}

// Put adds one sample, whatever the budget says; Replace puts one in the place of another. Both are
// for methods that fill the store themselves, and copy the pixels.
func (s *Store) Put(it Item) {
	it.Pixels = slices.Clone(it.Pixels)
	s.items = append(s.items, it)
	s.changes++
	s.order, s.next = nil, 0
}

// Replace puts a sample in the place of sample i.
func (s *Store) Replace(i int, it Item) {
	it.Pixels = slices.Clone(it.Pixels)
	s.items[i] = it
	s.changes++
}

// Edit changes the pixels of sample i.
func (s *Store) Edit(i int, pixels []float32) {
	it := &s.items[i]
	if it.Origin == nil {
		it.Origin = slices.Clone(it.Pixels)
	}
	copy(it.Pixels, pixels)
	it.Edits++
	s.changes++
}

// Drift returns the mean and the largest drift of the samples that were edited, and their number.
func (s *Store) Drift() (mean, largest float64, edited int) {
	for _, it := range s.items {
		if it.Origin != nil {
			d := it.Drift()
			mean, largest, edited = mean+d, max(largest, d), edited+1
		}
	}
	return mean / float64(max(1, edited)), largest, edited
}

// SetScore changes the score of sample i.
func (s *Store) SetScore(i int, score float64) { s.items[i].Score = score }

// choose returns at most n of the indices, uniformly at random, in their old order.
func (s *Store) choose(indices []int, n int) []int {
	if len(indices) <= n {
		return indices
	}
	picked := s.rng.Perm(len(indices))[:n]
	slices.Sort(picked)
	out := make([]int, n)
	for k, p := range picked {
		out[k] = indices[p]
	}
	return out
}

// Draw returns the indices of a batch of at most n distinct samples: a shuffled pass over the
// store, begun anew where fewer than n are left. A store of up to n samples is returned whole.
func (s *Store) Draw(n int) []int {
	if n = min(n, len(s.items)); n == 0 {
		return nil
	}
	if s.order == nil || s.next+n > len(s.order) {
		s.order, s.next = s.rng.Perm(len(s.items)), 0
	}
	batch := s.order[s.next : s.next+n]
	s.next += n
	return batch
}
