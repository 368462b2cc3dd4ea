package stats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Resampling says which levels of the benchmark a bootstrap draws anew, with replacement. Everything is drawn within its
// benchmark; benchmarks are never drawn.
type Resampling int

const (
	// OverSeeds draws runs within each situation, and keeps the situations: what would happen with other seeds in the
	// same situations. This is Agarwal et al.'s stratified bootstrap, the situations being the strata.
	OverSeeds Resampling = iota
	// Nested draws label sets, then for each of them its timelines, then for each of these its runs: what would happen
	// in other situations with other seeds, if a seed meant something else in each situation.
	Nested
	// Crossed draws label sets and their timelines as Nested does, and seeds once for all situations together: what
	// would happen in other situations with other seeds, if a seed has an effect that all situations share, such as
	// that of the initial network. It is Owen's (2007) pigeonhole bootstrap, timelines being nested in label sets.
	Crossed
)

func (r Resampling) String() string {
	switch r {
	case OverSeeds:
		return "seeds within each situation"
	case Nested:
		return "label sets, their timelines, and seeds within each"
	case Crossed:
		return "label sets, their timelines, and seeds across all"
	}
	return fmt.Sprintf("Resampling(%d)", int(r))
}

// possible refuses to draw what there is only one of.
func (r Resampling) possible(d *design) error {
	if r < OverSeeds || r > Crossed {
		return fmt.Errorf("stats: %v is not a resampling", r)
	}
	for _, b := range d.benchmarks {
		if r != Nested && len(b.seeds) < 2 {
			return errors.New("stats: one seed says nothing about others; there must be runs of at least two")
		}
		if r != OverSeeds && len(b.labelSets) < 2 {
			return errors.New("stats: one label set says nothing about others; there must be at least two, or only seeds can be drawn")
		}
	}
	return nil
}

// sampler draws replicates of a design. Each uses the memory of the one before.
type sampler struct {
	*design
	over     Resampling
	oneFewer bool
	random   *seed.Source

	drawn []situation
	used  []int
}

// replicate returns the situations of one replicate, which last until the next.
func (s *sampler) replicate() []situation {
	s.drawn, s.used = s.drawn[:0], s.used[:0]
	for _, b := range s.benchmarks {
		if s.over == OverSeeds {
			for _, l := range b.labelSets {
				for _, t := range l {
					s.runs(t, s.places(len(t)))
				}
			}
			continue
		}
		var common []int
		if s.over == Crossed {
			common = s.places(len(b.seeds))
		}
		for _, l := range s.places(len(b.labelSets)) {
			for _, t := range s.places(len(b.labelSets[l])) {
				seeds := common
				if s.over == Nested {
					seeds = s.places(len(b.seeds))
				}
				s.runs(b.labelSets[l][t], seeds)
			}
		}
	}
	return s.drawn
}

// runs adds the runs of a situation at some places to the replicate.
func (s *sampler) runs(t situation, places []int) {
	runs := s.take(len(places))
	for i, place := range places {
		runs[i] = t[place]
	}
	s.drawn = append(s.drawn, runs)
}

// places draws n of n places, or one fewer.
func (s *sampler) places(n int) []int {
	m := n
	if s.oneFewer && n > 1 {
		m--
	}
	out := s.take(m)
	for i := range out {
		out[i] = s.random.IntN(n)
	}
	return out
}

// take returns room for n numbers.
func (s *sampler) take(n int) []int {
	from := len(s.used)
	s.used = slices.Grow(s.used, n)[:from+n]
	return s.used[from:]
}
