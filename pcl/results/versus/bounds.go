package versus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Bound is a row beside the compared methods that says how far they are from what is easy and from
// what is possible. No test is about it.
type Bound struct {
	Name       string  `json:"name"`
	A          float64 `json:"A"`
	Situations int     `json:"situations"`
	// Difference is from the reference, and Ahead from the method with the highest A, over the
	// situations in which both have results. They are nil where there are none.
	Difference *float64 `json:"difference,omitempty"`
	Ahead      *float64 `json:"ahead,omitempty"`
	Runs       int      `json:"runs,omitempty"`    // 0 for guessing
	Seconds    float64  `json:"seconds,omitempty"` // that its runs took
	Bytes

	kind bound
}

type bound int

const (
	guessing bound = iota
	joint          // the same network on all tasks at once
	onFeatures
	otherwise
)

// Bytes says how large the samples are that a method stores, and the sums that it learns from;
// both are 0 where that is not known.
type Bytes struct {
	Samples int `json:"stored_bytes,omitempty"`
	Sums    int `json:"statistics_bytes,omitempty"`
}

// BytesOf returns the means over the runs that say so.
func BytesOf(runs []*results.Run) (b Bytes) {
	n := 0
	for _, r := range runs {
		if m := r.Measured; m.StoredBytes+m.StatisticsBytes > 0 {
			b.Samples, b.Sums, n = b.Samples+m.StoredBytes, b.Sums+m.StatisticsBytes, n+1
		}
	}
	return Bytes{b.Samples / max(1, n), b.Sums / max(1, n)}
}

// Cells returns both as text.
func (b Bytes) Cells() (samples, sums string) {
	if b == (Bytes{}) {
		return "–", "–"
	}
	return plural.Bytes(b.Samples), plural.Bytes(b.Sums)
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

// Bounds returns the rows that stand beside the methods of a column. reference is the method that
// the others are compared with, and best the one with the highest accuracy.
func Bounds(c *rows.Column, reference, best *rows.Entry) (out []*Bound) {
	if guess := guessed(c.Entries); guess.Situations > 0 {
		out = append(out, guess)
	}
	for _, e := range c.Beside {
		b := &Bound{Name: nameOf(e), kind: kindOf(e.Rows[0].Run), A: e.A.Mean, Seconds: e.Took(), Bytes: BytesOf(e.Results())}
		b.Situations, b.Runs = len(rows.Situations(results.FinalAccuracy, e)), e.Done
		b.Difference, b.Ahead = from(reference, e), from(best, e)
		out = append(out, b)
	}
	slices.SortStableFunc(out, func(a, b *Bound) int { return cmp.Compare(a.kind, b.kind) })
	return out
}

// guessed is the row for guessing in the runs of entries; those that were read from a CSV file do
// not say which classes their tasks had.
func guessed(entries []*rows.Entry) *Bound {
	guess, runs := &Bound{Name: "guessing"}, 0
	situations := map[any]bool{}
	for _, e := range entries {
		for _, r := range e.Rows {
			if r.State != rows.Done || len(r.Run.Tasks) == 0 || len(r.Run.Tasks[0].Classes) == 0 {
				continue
			}
			situations[r.Situation] = true
			guess.A += Guess(r.Run)
			runs++
		}
	}
	guess.A, guess.Situations = guess.A/float64(max(1, runs)), len(situations)
	return guess
}

func (t *Table) bound(c *rows.Column, entries []*rows.Entry) {
	best := slices.MaxFunc(entries, func(a, b *rows.Entry) int { return cmp.Compare(a.A.Mean, b.A.Mean) })
	t.Bounds = Bounds(c, entries[0], best)
	t.best, t.onFeatures = best.Name, best.Results()[0].OnFeatures()
}

// from is the mean difference of an entry from another one, over the situations that both have.
func from(other, e *rows.Entry) *float64 {
	if other == nil {
		return nil
	}
	shared := rows.Situations(results.FinalAccuracy, e, other)
	if len(shared) == 0 {
		return nil
	}
	d := 0.0
	for _, s := range shared {
		d += (s.Means[0] - s.Means[1]) / float64(len(shared))
	}
	return &d
}

func kindOf(r *results.Run) bound {
	switch {
	case r.Joint():
		return joint
	case r.OnFeatures():
		return onFeatures
	}
	return otherwise
}

// nameOf names what a row beside the methods did.
func nameOf(e *rows.Entry) string {
	r := e.Rows[0].Run
	if r.Joint() {
		name := "all tasks at once"
		if r.Method != "avggrad" {
			name += " with " + r.Method
		}
		if passes := r.Settings()["epochs"]; passes == "1" {
			name += ", 1 pass"
		} else if passes != "" {
			name += ", " + passes + " passes"
		}
		return name
	}
	words := slices.DeleteFunc(strings.Fields(r.Label()), func(w string) bool { return w == results.VariantBeside })
	return strings.Replace(strings.Join(words, " "), " features ", " on ", 1)
}

// Text names the row, and says in how many situations it was made if the methods have more.
func (b *Bound) Text(situations int) string {
	if b.Situations < situations {
		return fmt.Sprintf("(%s, %s)", b.Name, plural.Of(b.Situations, "situation"))
	}
	return "(" + b.Name + ")"
}
