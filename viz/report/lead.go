package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// This file makes the sentences that a page about runs begins with: who leads, by how much, in how
// many situations, and what it would take to decide.

// finished returns the entries of a column that have results, the best first.
func finished(c *rows.Column) []*rows.Entry {
	return slices.DeleteFunc(slices.Clone(c.ByA()), func(e *rows.Entry) bool {
		return e.Done == 0 || math.IsNaN(e.A.Mean)
	})
}

// leader says which of several methods has the highest accuracy, and how far it is ahead of the
// next one where both have runs.
func leader(c *rows.Column, lines map[string]versus.Line) string {
	all := finished(c)
	if len(all) < 2 {
		return ""
	}
	first, second := all[0], all[1]
	shared := rows.Distinct(results.FinalAccuracy, first, second)
	if len(shared) == 0 {
		return fmt.Sprintf("%s has %.1f %% in %s, %s %.1f %% in %s: none is in common, so that nothing says which is better.",
			first.Name, first.A.Mean, situationsOf(first), second.Name, second.A.Mean, situationsOf(second))
	}
	won, by := 0, 0.0 // as in the table, whatever else only one of them has
	for _, s := range shared {
		if by += (s.Means[0] - s.Means[1]) / float64(len(shared)); s.Means[0] > s.Means[1] {
			won++
		}
	}
	where := "points above"
	if by < 0 {
		where = "points below"
	}
	ahead := fmt.Sprintf("%s leads with %.1f %%, %.1f %s %s", first.Name, first.A.Mean, math.Abs(by), where, second.Name)
	if low, high, known := lead(lines[first.Name].Against, lines[second.Name].Against); known {
		ahead += fmt.Sprintf(" (95 %% interval %s)", interval(low, high))
	}
	switch n := len(shared); n {
	case 1:
		return ahead + ", in one situation."
	default:
		return fmt.Sprintf("%s; it is ahead in %d of %d situations.", ahead, won, n)
	}
}

func situationsOf(e *rows.Entry) string {
	return plural.Of(len(rows.Situations(results.FinalAccuracy, e)), "situation")
}

// lead returns the interval of the first method's lead over the second, if one of them is the
// reference, which is compared with nothing.
func lead(first, second *versus.Against) (low, high float64, known bool) {
	switch {
	case first == nil && second != nil && second.Interval != nil:
		return -second.Interval[1], -second.Interval[0], true
	case second == nil && first != nil && first.Interval != nil:
		return first.Interval[0], first.Interval[1], true
	}
	return 0, 0, false
}

// decision says what a comparison shows. If it has too few situations to show anything, it says
// what would.
func decision(t *versus.Table) string {
	tests, most, needed := t.Reach()
	if tests == 0 || most >= needed {
		return t.Verdict
	}
	return fmt.Sprintf("Whether that holds in general, %s cannot show: %s at the 5 %% level it takes at least %d. "+
		"To make them, repeat the runs with --labelset %s, and make this page again of all of them.",
		plural.Of(most, "situation"), forTests(tests), needed, numbersBelow(needed))
}

func forTests(n int) string {
	if n == 1 {
		return "for a comparison"
	}
	return fmt.Sprintf("for %d comparisons", n)
}

// numbersBelow lists the whole numbers from 0, as a flag has them.
func numbersBelow(n int) string {
	var all []string
	for i := range n {
		all = append(all, strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

// opening tells a newcomer what the runs of a column show, in the words of every day.
func opening(c *rows.Column) string {
	all := finished(c)
	if len(all) < 2 {
		return ""
	}
	change := func(e *rows.Entry) float64 { return e.Summary(results.FinalChange).Mean }
	kept, lost := all[0], all[0]
	for _, e := range all {
		if change(e) > change(kept) {
			kept = e
		}
		if change(e) < change(lost) {
			lost = e
		}
	}
	text := fmt.Sprintf("%s forgets least: since the end of each task its accuracy %s, and that of %s %s. ",
		kept.Name, changed(change(kept)), lost.Name, changed(change(lost)))
	text += fmt.Sprintf("At the end %s recognises %.1f %% of the test images of all tasks, %.1f points more than %s. ",
		all[0].Name, all[0].A.Mean, all[0].A.Mean-all[1].A.Mean, all[1].Name)
	if len(rows.Situations(results.FinalAccuracy, all[0])) == 1 {
		text += "That is one situation: one way to divide the classes into tasks that arrive and overlap."
	}
	return strings.TrimSpace(text)
}

func changed(points float64) string {
	if points < 0 {
		return fmt.Sprintf("fell by %.1f points", -points)
	}
	return fmt.Sprintf("rose by %.1f points", points)
}
