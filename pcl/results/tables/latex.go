package tables

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// LaTeX writes a line for each method and a pair of columns, A and F, for each data set and increment. Numbers are means
// over the seeds and, as ±, their population standard deviation; runs on other label sets or timelines have lines of their
// own. The table needs the package booktabs.
func LaTeX(out io.Writer, runs []*results.Run) error {
	if len(runs) == 0 {
		return errors.New("no runs")
	}
	type column struct{ dataset, increment string }
	var columns []column
	var lines []string
	entries := map[string]map[column]results.RunGroup{}
	for _, g := range results.Group(runs) {
		c, line := column{g.Runs[0].Dataset, g.Runs[0].Increment}, g.Label()+situation(g.Runs[0], runs)
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if entries[line] == nil {
			lines, entries[line] = append(lines, line), map[column]results.RunGroup{}
		}
		if _, twice := entries[line][c]; twice {
			return fmt.Errorf("there are several groups of runs of %s on %s, %s-incremental, which differ in their settings: export them one by one", line, c.dataset, c.increment)
		}
		entries[line][c] = g
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{tabular}{l%s}\n\\toprule\n", strings.Repeat("rr", len(columns)))
	for _, c := range columns {
		fmt.Fprintf(&b, " & \\multicolumn{2}{c}{%s, %s}", escape(c.dataset), escape(c.increment))
	}
	b.WriteString(" \\\\\nMethod" + strings.Repeat(" & $A_{\\bar e}$ & $F_{\\bar e}$", len(columns)) + " \\\\\n\\midrule\n")
	for _, line := range lines {
		b.WriteString(escape(line))
		for _, c := range columns {
			g, there := entries[line][c]
			if !there {
				b.WriteString(" & -- & --")
				continue
			}
			fmt.Fprintf(&b, " & %s & %s", number(g.Moment(func(r *results.Run) float64 { return r.A })), number(g.Moment(func(r *results.Run) float64 { return r.F })))
		}
		b.WriteString(" \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// situation names a run's label sets and timeline if the runs have several.
func situation(r *results.Run, runs []*results.Run) string {
	for _, other := range runs {
		if other.LabelSet != r.LabelSet || other.Timeline != r.Timeline {
			return fmt.Sprintf(", label sets %d, timeline %d", r.LabelSet, r.Timeline)
		}
	}
	return ""
}

func number(m results.Moment) string {
	if m.N < 2 {
		return fmt.Sprintf("$%.2f$", m.Mean)
	}
	return fmt.Sprintf("$%.2f \\pm %.2f$", m.Mean, m.Std())
}

var special = strings.NewReplacer(`\`, `\textbackslash{}`, "_", `\_`, "&", `\&`, "%", `\%`, "#", `\#`, "$", `\$`, "{", `\{`, "}", `\}`, "^", `\^{}`, "~", `\~{}`)

// escape writes a text so that TeX prints it as it is.
func escape(s string) string { return special.Replace(s) }
