package grid

import (
	"fmt"
	"math"
)

// Shard is a part of a grid's cells: the I-th of N, counted from 0. The zero value stands for all cells.
type Shard struct{ I, N int }

func (s Shard) String() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

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

// Shards returns how many shards make the cells that are left take about the given time each, by the measured
// times of finished cells. It returns an error if nothing has been measured yet.
func (f Folder) Shards(m *Manifest, seconds float64) (int, error) {
	s, err := f.Status(m.Name)
	if err != nil {
		return 0, err
	}
	if s.Left > 0 && s.Unmeasured == s.Left {
		return 0, fmt.Errorf("no cell of grid %s has been measured: make some first, or say how many shards there are to be", m.Name)
	}
	return max(1, int(math.Ceil(s.SecondsLeft/seconds))), nil
}
