package versus

import "github.com/parallelcl/parallelcl/pcl/results"

// Bound is a row beside the compared methods that says how far they are from what is easy. No test
// is about it.
type Bound struct {
	Name       string  `json:"name"`
	A          float64 `json:"A"`
	Situations int     `json:"situations"`
}

// Guess is the accuracy that guessing among the classes has in expectation, over the tasks of a
// run.
func Guess(r *results.Run) (a float64) {
	all := map[int]bool{}
	for _, t := range r.Tasks {
		for _, c := range t.Classes {
			all[c] = true
		}
	}
	for _, t := range r.Tasks {
		among := len(t.Classes)
		if r.Increment == "class" {
			among = len(all)
		}
		a += 100 / float64(among) / float64(len(r.Tasks))
	}
	return a
}

// Bound adds what guessing has in the runs of the table.
func (t *Table) Bound(runs []*results.Run) {
	situations := map[[2]uint64]bool{}
	guess := Bound{Name: "guessing"}
	for _, r := range runs {
		situations[[2]uint64{r.LabelSet, r.Timeline}] = true
		guess.A += Guess(r) / float64(len(runs))
	}
	guess.Situations = len(situations)
	t.Bounds = append(t.Bounds, guess)
}
