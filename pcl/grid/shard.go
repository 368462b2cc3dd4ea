package grid

import (
	"fmt"
	"math"
	"slices"
)

// Shard is a part of a grid's cells: the I-th of N, counted from 0. The zero value stands for all cells.
type Shard struct{ I, N int }

func (s Shard) String() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

// valid says whether there is such a part.
func (s Shard) valid() bool { return s == Shard{} || s.I >= 0 && s.I < s.N }

// Part returns the cells of a shard.
func (m *Manifest) Part(s Shard) []Cell { return part(m.Cells, s) }

// part returns the cells of a shard. They are neighbours, so that they share data and compiled programs, and all
// shards are expected to take about the same time. Since that depends on the manifest alone, processes that start at
// different times agree on it.
func part(cells []Cell, s Shard) []Cell {
	if s.N == 0 {
		return cells
	}
	seconds, total := weights(cells)
	var out []Cell
	before := 0.0
	for i, c := range cells {
		middle := (before + seconds[i]/2) / total
		if min(s.N-1, int(middle*float64(s.N))) == s.I {
			out = append(out, c)
		}
		before += seconds[i]
	}
	return out
}

// weights returns the expected times of cells and their sum. A cell of unknown time counts as the mean of the others.
func weights(cells []Cell) (seconds []float64, total float64) {
	known, sum := 0, 0.0
	for _, c := range cells {
		if c.Seconds > 0 {
			known, sum = known+1, sum+c.Seconds
		}
	}
	mean := 1.0
	if known > 0 {
		mean = sum / float64(known)
	}
	for _, c := range cells {
		s := c.Seconds
		if s <= 0 {
			s = mean
		}
		seconds, total = append(seconds, s), total+s
	}
	return seconds, total
}

// Shards returns how many shards take about the given time each, by the measured times of finished cells; cells of a kind
// that was not measured count as the mean of the others. Shards are cut from all cells, so that those of which some cells
// are finished take less. There are no more than cells. It returns an error if nothing has been measured yet.
func (f Folder) Shards(m *Manifest, seconds float64) (int, error) {
	if !(seconds > 0) {
		return 0, fmt.Errorf("shards of %v seconds: want a positive time", seconds)
	}
	index, err := f.Index()
	if err != nil {
		return 0, err
	}
	now := &Manifest{Compute: m.Compute, Cells: slices.Clone(m.Cells)}
	if err := now.measure(index.times); err != nil {
		return 0, err
	}
	if !slices.ContainsFunc(now.Cells, func(c Cell) bool { return c.Seconds > 0 }) {
		return 0, fmt.Errorf("no cell of grid %s has been measured: make some first, or say how many shards there are to be", m.Name)
	}
	_, total := weights(now.Cells)
	return max(1, int(math.Ceil(min(total/seconds, float64(len(m.Cells)))))), nil
}
