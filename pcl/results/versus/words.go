package versus

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Reach returns how many comparisons are tested, the most situations that one of them has, and how
// many it takes for as many tests to show anything. Where none has enough situations for a test,
// all count.
func (t *Table) Reach() (tests, most, needed int) {
	some := slices.ContainsFunc(t.Lines, Line.tested)
	for _, l := range t.Lines {
		if l.Against != nil && (!some || l.tested()) {
			tests, most = tests+1, max(most, l.Against.Situations)
		}
	}
	return tests, most, stats.MinPairs(stats.Level, max(1, tests))
}

func (l Line) tested() bool { return l.Against != nil && l.Against.P != nil }

// say fills in the sentences.
func (t *Table) say() {
	said := map[string][]string{}
	var open []Line
	tests, most, needed := t.Reach()
	for _, l := range t.Lines[1:] {
		verdict, name := "not shown to differ from", l.Method
		switch a := l.Against; {
		case a == nil:
			t.noted("%s has no situation and seed in common with %s.", l.Method, t.Reference)
			continue
		case !l.tested():
			verdict = "not tested against"
		case !a.Differs:
			open = append(open, l)
		case a.Difference < 0:
			verdict, name = "better than", fmt.Sprintf("%s (by %s)", name, points(a.Difference))
		default:
			verdict, name = "worse than", fmt.Sprintf("%s (by %s)", name, points(a.Difference))
		}
		said[verdict] = append(said[verdict], name)
	}
	var parts []string
	for _, verdict := range []string{"better than", "worse than", "not shown to differ from", "not tested against"} {
		if len(said[verdict]) > 0 {
			parts = append(parts, verdict+" "+list(said[verdict]))
		}
	}
	switch {
	case tests == 0:
		t.Verdict = "There is nothing to compare."
	case most < needed:
		t.Verdict = fmt.Sprintf("Nothing can be decided: with %s, %s cannot show a difference at 5 %%, "+
			"whatever the numbers; it takes %d.",
			plural.Of(most, "situation"), plural.Of(tests, "comparison"), needed)
	default:
		t.Verdict = fmt.Sprintf("At the 5 %% level, %s is %s.", t.Reference, strings.Join(parts, "; it is "))
		if len(open) > 0 {
			t.More = more(open, tests)
		}
	}
	t.note(most)
}

// noted adds a sentence to the notes.
func (t *Table) noted(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// note adds what the reader should know about the runs.
func (t *Table) note(most int) {
	grouped, clusters := false, true
	alike := map[string][]string{} // what is said of methods that repeat the reference's situations
	for _, l := range t.Lines {
		if l.Diverged > 0 {
			t.noted("%d of %s of %s diverged; they count with the accuracy that they ended with.",
				l.Diverged, plural.Of(l.Runs, "run"), l.Method)
		}
		if l.Method != t.Reference && l.Against == nil {
			continue // which has been said
		}
		if l.Runs < t.Lines[0].Runs || l.Situations != t.Lines[0].Situations {
			t.noted("%s has %s in %s, %s %d in %d: the difference is over what they share.",
				l.Method, plural.Of(l.Runs, "run"), plural.Of(l.Situations, "situation"),
				t.Reference, t.Lines[0].Runs, t.Lines[0].Situations)
		}
		switch a := l.Against; {
		case a == nil:
		case a.contrast.Grouped:
			grouped, clusters = true, clusters && a.Interval != nil
		case a.Repeated > 0:
			said := fmt.Sprintf("their %d situations are %d, one for each label set%s.",
				a.Situations+a.Repeated, a.Situations, l.tooFew())
			alike[said] = append(alike[said], l.Method)
		case a.Situations < most && !l.tested():
			t.noted("%s has %s in common with %s%s.", l.Method, plural.Of(a.Situations, "situation"), t.Reference, l.tooFew())
		}
	}
	for _, said := range slices.Sorted(maps.Keys(alike)) {
		t.noted("%s each end with the same model whatever the timeline: %s",
			list(append([]string{t.Reference}, alike[said]...)), said)
	}
	switch {
	case grouped && clusters:
		t.noted("Some label sets have several timelines, which are not independent: a method differs only if its " +
			"interval, which draws whole label sets, excludes 0 too (docs/protocol.md §3.5).")
	case grouped:
		t.noted("All runs have one label set: they say nothing about other divisions of the classes into tasks, " +
			"and nothing is called a difference.")
	case most == 1:
		t.noted("Seeds alone say nothing about other label sets and timelines.")
	}
}

// tooFew says that a comparison has no test.
func (l Line) tooFew() string {
	if l.tested() {
		return ""
	}
	return fmt.Sprintf(", and a test takes at least %d", stats.MinPairs(stats.Level, 1))
}

// more says what further situations would show of methods that are not told from the reference.
func more(open []Line, tests int) string {
	const limit = 1000
	var sizes, ways []string
	grouped := ""
	for _, l := range open {
		c := l.Against.contrast
		if c.Grouped {
			grouped = ", each a label set of its own,"
		}
		sizes = append(sizes, fmt.Sprintf("%s (%s)", points(stats.Detectable(c.Std, 2*c.Pairs, tests)), l.Method))
		n, enough := pairsFor(c.Difference, c.Std, tests, limit)
		switch seen := fmt.Sprintf("(%s, %s)", l.Method, points(c.Difference)); {
		case !enough:
			ways = append(ways, fmt.Sprintf("more than %d %s", limit, seen))
		case n > c.Pairs:
			ways = append(ways, fmt.Sprintf("%d %s", n, seen))
		}
	}
	text := fmt.Sprintf("%d situations%s would show, four times in five, a difference of %s.",
		2*open[0].Against.Situations, grouped, list(sizes))
	if len(ways) > 0 {
		text += fmt.Sprintf(" If the differences are as large as seen, it takes %s.", list(ways))
	}
	return text
}

// pairsFor returns how many pairs find a difference in about four of five cases, and whether limit
// pairs suffice.
func pairsFor(difference, std float64, tests, limit int) (n int, enough bool) {
	for n <= limit && stats.Detectable(std, n, tests) > math.Abs(difference) {
		n++
	}
	return n, n <= limit
}

// list writes a list as in a sentence: "er, mgda and gem".
func list(names []string) string {
	last := len(names) - 1
	return strings.Join(append([]string{strings.Join(names[:max(last, 1)], ", ")}, names[max(last, 1):]...), " and ")
}

// points writes the size of a difference.
func points(x float64) string {
	return fmt.Sprintf("%.1f points", math.Abs(x))
}

// legend stands below the tables.
const legend = "A: mean final accuracy of the tasks, over situations (a label set and a timeline), " +
	"each the mean over its seeds; p: exact sign-flip test over situations after Holm's correction; " +
	"the interval is of one difference alone; STEP: time of a step, relative to the first; " +
	"SAMPLES: bytes of the samples that a method keeps; SUMS: of the sums that it learns from; " +
	"(in brackets): rows that no test is about (docs/protocol.md §3.6)."

// Text writes the tables for a terminal.
func Text(out io.Writer, all []*Table) error {
	for i, t := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := t.text(out); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		_, err := fmt.Fprintln(out, "\n"+legend)
		return err
	}
	return nil
}

func (t *Table) text(out io.Writer) error {
	on := t.common()
	short := func(text string) string { return strings.ReplaceAll(text, on, "") }
	if on == "" {
		short = func(text string) string { return text }
	}
	situations := slices.MaxFunc(t.Lines, func(a, b Line) int { return a.Situations - b.Situations }).Situations
	fmt.Fprintf(out, "%s, %s-incremental, %s%s\n", t.Dataset, t.Increment, plural.Of(situations, "situation"),
		strings.Replace(on, " ", ", ", 1))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "METHOD\tA (%%)\t− %s\t95 %% INTERVAL\tp (HOLM)\tSTEP\tSAMPLES\tSUMS\n", short(t.Reference))
	for _, l := range t.Lines {
		difference, interval, p, cost := "", "", "", "–"
		if a := l.Against; a != nil {
			difference, interval, p = minus("%+.1f", a.Difference), "–", "–"
			if a.Interval != nil {
				interval = minus("%+.1f to %+.1f", a.Interval[0], a.Interval[1])
			}
			if a.Holm != nil {
				p = fmt.Sprintf("%.3f", *a.Holm)
			}
		}
		if l.Cost > 0 {
			cost = fmt.Sprintf("×%.2f", l.Cost)
		}
		samples, sums := l.Cells()
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\n", short(l.Method), l.A, difference, interval, p, cost,
			samples, sums)
	}
	for _, b := range t.Bounds {
		difference, samples, sums := "", "", ""
		if b.Difference != nil {
			difference = minus("%+.1f", *b.Difference)
			samples, sums = b.Cells()
		}
		fmt.Fprintf(w, "%s\t%.1f\t%s\t\t\t\t%s\t%s\n", b.Text(situations), b.A, difference, samples, sums)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, line := range slices.Concat([]string{t.Verdict, t.More}, t.Notes, []string{t.Next}) {
		if line != "" {
			fmt.Fprintln(out, short(line))
		}
	}
	return nil
}

// common is what the names of all methods end with if they had the same features; such a name tells
// nothing apart, and the head of the table has it.
func (t *Table) common() string {
	at := strings.Index(t.Reference, " "+results.VariantFeatures+" ")
	if at < 0 {
		return ""
	}
	on := t.Reference[at:]
	if slices.ContainsFunc(t.Lines, func(l Line) bool { return !strings.HasSuffix(l.Method, on) }) {
		return ""
	}
	return on
}

// minus writes numbers with the sign as in print.
func minus(format string, x ...any) string {
	return strings.ReplaceAll(fmt.Sprintf(format, x...), "-", "−")
}
