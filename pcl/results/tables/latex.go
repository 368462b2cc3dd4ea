package tables

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// column is a pair of columns of a LaTeX table, A and F, for a data set in an increment.
type column struct{ dataset, increment string }

// LaTeX writes a table in the form of the paper's: a line for each method and a pair of columns, A and F, for each data set and
// increment. Numbers are means over the finished runs and, as ±, the population standard deviation of the seeds' means
// (docs/protocol.md §3.2). Where runs are missing, there is the mean and the number of runs. Comments at the top name entries with
// diverged runs. The table needs the package booktabs.
func LaTeX(out io.Writer, all []*rows.Row) error {
	if len(all) == 0 {
		return errors.New("no runs")
	}
	var columns []column
	var lines []string
	entries := map[string]map[column][]*rows.Row{}
	for _, r := range all {
		c, line := column{r.Dataset, r.Increment}, r.Line()
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if entries[line] == nil {
			lines, entries[line] = append(lines, line), map[column][]*rows.Row{}
		}
		entries[line][c] = append(entries[line][c], r)
	}
	var comments, body strings.Builder
	for _, line := range lines {
		body.WriteString(escape(line))
		for _, c := range columns {
			own := entries[line][c]
			fmt.Fprintf(&body, " & %s & %s", entry(own, func(r *rows.Row) float64 { return r.A }), entry(own, func(r *rows.Row) float64 { return r.F }))
			if n, done := diverged(own); n > 0 {
				fmt.Fprintf(&comments, "%% %d of %d runs of %q on %q, %s-incremental, diverged\n", n, done, line, c.dataset, c.increment)
			}
		}
		body.WriteString(" \\\\\n")
	}
	head := ""
	for _, c := range columns {
		head += fmt.Sprintf(" & \\multicolumn{2}{c}{%s, %s}", escape(c.dataset), escape(c.increment))
	}
	_, err := fmt.Fprintf(out, "%s\\begin{tabular}{l%s}\n\\toprule\n%s \\\\\nMethod%s \\\\\n\\midrule\n%s\\bottomrule\n\\end{tabular}\n",
		&comments, strings.Repeat("rr", len(columns)), head, strings.Repeat(" & $A_{\\bar e}$ & $F_{\\bar e}$", len(columns)), &body)
	return err
}

func diverged(all []*rows.Row) (n, done int) {
	for _, r := range all {
		if r.State == rows.Done {
			done++
		}
		if r.Diverged != "" {
			n++
		}
	}
	return n, done
}

// entry is the mean and deviation of a number over the finished runs of some rows.
func entry(all []*rows.Row, figure func(*rows.Row) float64) string {
	var scores []stats.Score
	for _, r := range all {
		if r.State == rows.Done {
			scores = append(scores, stats.Score{LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, Value: figure(r)})
		}
	}
	s := stats.Summarize(scores)
	switch {
	case len(scores) == 0:
		return "--"
	case len(scores) < len(all):
		return fmt.Sprintf("$%.2f$ (%d of %d)", s.Mean, len(scores), len(all))
	case math.IsNaN(s.StdSeeds):
		return fmt.Sprintf("$%.2f$", s.Mean)
	}
	return fmt.Sprintf("$%.2f \\pm %.2f$", s.Mean, s.StdSeeds)
}

// special are what TeX reads as something else, what its usual fonts lack or print as another character, and, at the
// beginning of a line, what it takes for an option of the line before.
var special = strings.NewReplacer(
	`\`, `\textbackslash{}`, "_", `\_`, "&", `\&`, "%", `\%`, "#", `\#`, "$", `\$`, "{", `\{`, "}", `\}`, "^", `\^{}`, "~", `\~{}`,
	"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "[", "{[}", "*", "{*}",
	"α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`, "η", `$\eta$`, "λ", `$\lambda$`, "σ", `$\sigma$`, "τ", `$\tau$`,
	"≤", `$\le$`, "≥", `$\ge$`, "∞", `$\infty$`, "−", "$-$", "×", `$\times$`, "±", `$\pm$`,
)

// escape writes a text so that TeX prints it as it is; Greek letters and signs beyond those of this program's own names need
// a TeX that knows them, such as LuaLaTeX.
func escape(s string) string { return special.Replace(s) }
