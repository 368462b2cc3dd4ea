package datasets

import "github.com/parallelcl/parallelcl/internal/fp"

// Selection is some samples of a split, one after the other. A Selection is a data.Samples: give it
// to pcl.NewStream and pcl.Task.Test. It can be read from several goroutines at once.
type Selection struct {
	set     *Dataset
	split   *Split
	indices []int
}

// Select returns the images of some classes of a split, class by class in the given order, at most
// limit of each; 0 is no limit. A class that the data set does not have has no images.
func (d *Dataset) Select(split *Split, limit int, classes ...int) *Selection {
	s := &Selection{set: d, split: split}
	perClass := d.ByClass(split, limit)
	for _, c := range classes {
		if c >= 0 && c < len(perClass) {
			s.indices = append(s.indices, perClass[c]...)
		}
	}
	return s
}

// ByClass lists the indices of the images of each class, at most limit of them; 0 is no limit.
func (d *Dataset) ByClass(split *Split, limit int) [][]int {
	out := make([][]int, len(d.Classes))
	for i, label := range split.Labels {
		if limit == 0 || len(out[label]) < limit {
			out[label] = append(out[label], i)
		}
	}
	return out
}

// Keep returns the images of the selection for which keep is true. nth counts the images of each
// class, from 0.
func (s *Selection) Keep(keep func(class, nth int) bool) *Selection {
	out := &Selection{set: s.set, split: s.split}
	seen := make([]int, len(s.set.Classes))
	for _, at := range s.indices {
		class := int(s.split.Labels[at])
		if keep(class, seen[class]) {
			out.indices = append(out.indices, at)
		}
		seen[class]++
	}
	return out
}

// Len is the number of images.
func (s *Selection) Len() int { return len(s.indices) }

// Sample writes the values of sample i into x and returns its class. Pixels are in [0,1].
func (s *Selection) Sample(i int, x []float32) (class int) {
	at := s.indices[i]
	if s.split.Values != nil {
		copy(x, s.set.numbers(s.split, at))
		return int(s.split.Labels[at])
	}
	fp.Units(x, s.set.Image(s.split, at))
	return int(s.split.Labels[at])
}
