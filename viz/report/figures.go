package report

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
)

const (
	barsNote = "Bands, or bars where there are many methods, are ± one standard deviation over the runs: label sets, " +
		"timelines and seeds together."
	fewNote = " Of many methods the eight of the highest A are shown."
	// mostShown is the number of methods that a figure can keep apart for the eye.
	mostShown = 8
)

// figures are those that take in all data sets and increments.
func (s *runSet) figures() (out []block) {
	var shown, all, whole []*results.Run // whole are those of methods of which no run is missing
	timelines := len(s.files) == 0       // that differ
	for _, c := range s.Columns {
		runs := s.runs(c.Entries...)
		shown, all = append(shown, s.runs(fewer(c)...)...), append(all, runs...)
		for _, e := range c.Entries {
			if e.Complete() {
				whole = append(whole, s.runs(e)...)
			}
		}
		timelines = timelines || len(runs) > 0 && !results.OneTimeline(runs)
	}
	if len(all) == 0 {
		return nil
	}
	sizes := titled("Accuracy and the memory’s size",
		"Look at the distance between the lines at the smallest memories. "+barsNote).where(viz.MemorySize(all...))
	temperatures := titled("Accuracy and the temperature", "Runs without a fixed temperature are level lines. "+barsNote).
		where(viz.Temperature(all...))
	out = append(out, sizes, temperatures)
	if len(s.files) == 0 && sizes.Picture+temperatures.Picture != "" {
		return out // more lines than a figure can keep apart
	}
	if timelines {
		out = append(out, titled("Accuracy as tasks end",
			"The average is over all tasks started so far. Where bars would hide the lines, only the last is drawn. "+
				barsNote+fewNote).of(viz.LearningProcess(shown...)))
	}
	if slices.ContainsFunc(shown, func(r *results.Run) bool { return r.Trial().Situation != shown[0].Trial().Situation }) {
		out = append(out, titled("Performance profiles",
			"The share of runs above an accuracy: a line above another’s everywhere is better throughout, one that falls "+
				"early has runs that fail."+fewNote).of(viz.Profiles(shown...)))
	}
	out = append(out, titled("One increment against the other",
		"Mean A of each method over its runs. Every method to the left of the line and below it is matched or beaten in "+
			"both by one on the line.").where(viz.TradeOff(whole...)))
	for _, c := range s.Columns {
		out = append(out, ranks(c))
	}
	return out
}

// fewer chooses the entries of a column that figures show.
func fewer(c *rows.Column) []*rows.Entry {
	made := slices.DeleteFunc(slices.Clone(c.ByA()), func(e *rows.Entry) bool { return e.Done == 0 })
	return made[:min(mostShown, len(made))]
}

// ranks draws the average ranks of a column's methods, if the situations are enough for the tests
// of their pairs.
func ranks(c *rows.Column) block {
	var complete []*rows.Entry
	var methods, labels []string
	for _, e := range c.Entries {
		if e.Rank > 0 {
			complete, methods, labels = append(complete, e), append(methods, e.Method()), append(labels, e.Name)
		}
	}
	if len(complete) == 0 {
		return block{}
	}
	for i, a := range complete {
		for _, b := range complete[:i] {
			if rows.Repeated(a, b) > 0 { // a test of the pair would count more situations than there are
				return block{}
			}
		}
	}
	compared, err := stats.Compare(rows.Scores(complete...), stats.Level)
	if err != nil {
		return block{}
	}
	return titled("Ranks, "+c.Benchmark.String(),
		"Average ranks by A over the situations, the best at the left. A thick line joins methods that Wilcoxon’s exact "+
			"test, with Holm’s correction for all pairs, cannot tell apart at 5 %.").
		of(viz.CriticalDifference(methods, labels, compared))
}

// toyBlock shows descents on the two synthetic functions; it is empty without any.
func toyBlock(traces []*toy.Trace) block {
	if len(traces) == 0 {
		return block{}
	}
	return block{ID: "toy", Title: "The same on two functions of two variables", Parts: []block{
		titled("The descent", fmt.Sprintf("f₁ = log(1 + x²) + 0.8 (1 − eˣ sin y)² is the old task; f₂ = log(1 + "+
			"y²) + 0.004 (0.1 + eʸ cos x)² joins at step %d of %d. Look at where the paths part on the right: a path along "+
			"a level line of f₁ keeps the old task as it is, one across it changes it.", traces[0].Settings.Arrival,
			len(traces[0].Steps))).of(viz.ToyDescent(traces...)),
		titled("Both functions",
			"Look at f₁ after the arrival of task 2, whose gradient is the larger one: a rise is forgetting. The weights of "+
				"EMGD and Sum add up to about 2, those of AvgGrad and MGDA to 1: part of how far they get is the longer step.").
			of(viz.ToyLosses(traces...)),
	}}
}
