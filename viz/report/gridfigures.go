package report

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
	"github.com/parallelcl/parallelcl/viz"
)

// gridFigures draws what a grid's results are to be seen in.
func gridFigures(g *findings.Grid) ([]runFigure, error) {
	var some, all []*findings.Entry
	for _, c := range g.Columns {
		some = append(some, shown(c)...)
		all = append(all, c.Entries...)
	}
	runs, err := runsOf(some)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	every, err := runsOf(all)
	if err != nil {
		return nil, err
	}
	switch {
	case varies(g, "memory.budget"):
		return []runFigure{titled("Accuracy and the memory’s size (the paper’s Figure 5)", "Bands, or bars where there are many methods, are ± one standard deviation over runs.").of(viz.MemorySize(every...))}, nil
	case varies(g, "params.tau"):
		return []runFigure{titled("Accuracy and the temperature (the paper’s Figure 8)", "Bands, or bars where there are many methods, are ± one standard deviation over runs.").of(viz.Temperature(every...))}, nil
	}
	few := ""
	if len(runs) < len(every) {
		few = fmt.Sprintf(" At most %d methods are shown.", mostShown)
	}
	out := []runFigure{
		titled("Accuracy as tasks end (the paper’s Figure 7)", "The average is over all tasks started so far. Bands are ± one standard deviation over runs, where they would not hide the lines."+few).of(viz.LearningProcess(runs...)),
		titled("Performance profiles", "The share of runs above an accuracy: a line above another’s everywhere is better throughout, one that falls early has runs that fail."+few).of(viz.Profiles(runs...)),
	}
	if inBoth(g) {
		out = append(out, titled("One increment against the other", "Mean A of each method over its runs. Every method to the left of the line and below it is matched or beaten in both by one on the line.").of(viz.TradeOff(every...)))
	}
	for _, c := range g.Columns {
		ranking, err := rankingOf(c)
		out = append(out, ranksFigure("Ranks, "+c.Name(), "Average ranks by A over the situations, the best at the left.", ranking, err)...)
	}
	return out, nil
}

// varies says whether a grid varies a setting.
func varies(g *findings.Grid, name string) bool {
	return len(g.Rows) > 0 && slices.ContainsFunc(g.Rows[0].Vary, func(s rows.Setting) bool { return s.Name == name })
}

// inBoth says whether a method has runs of one data set in both increments.
func inBoth(g *findings.Grid) bool {
	for _, task := range g.Columns {
		class := g.Column(task.Dataset, "class")
		if task.Increment != "task" || class == nil {
			continue
		}
		for _, e := range task.Entries {
			if other := class.Entry(e.Name); other != nil && e.Done > 0 && other.Done > 0 {
				return true
			}
		}
	}
	return false
}

// ranksFigure draws the ranks of methods with the lines of Wilcoxon's tests. There is no figure where the situations are too few
// for such tests.
func ranksFigure(title, note string, r *viz.Ranking, err error) []runFigure {
	f := titled(title, note+" A thick line joins methods that Wilcoxon’s exact test, with Holm’s correction for all pairs, cannot tell apart at 5 %.")
	switch {
	case errors.As(err, new(*stats.TooFewError)) || r == nil && err == nil:
		return nil
	case err != nil:
		return []runFigure{f.of(nil, err)}
	}
	return []runFigure{f.of(viz.Ranks(r))}
}

// rankingOf ranks the methods with all runs; it is nil if there are fewer than two.
func rankingOf(c *findings.Column) (*viz.Ranking, error) {
	var complete []*findings.Entry
	var looks, labels []string
	seen := map[string]int{}
	for _, e := range c.Entries {
		if e.Rank == 0 {
			continue
		}
		look := e.Rows[0].RunMethod
		if n := seen[look]; n > 0 {
			look += fmt.Sprintf("+%d", n)
		}
		seen[e.Rows[0].RunMethod]++
		complete, looks, labels = append(complete, e), append(looks, look), append(labels, e.Name)
	}
	if len(complete) < 2 {
		return nil, nil
	}
	compared, err := stats.Compare(findings.Scores(complete), findings.Alpha)
	return &viz.Ranking{Methods: looks, Labels: labels, Comparison: compared}, err
}
