package tables

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// LaTeX writes a table in the form of the paper's: a line for each method and a pair of columns, A
// and F, for each data set and increment. Numbers are means over the finished runs and, as ±, the
// population standard deviation of the seeds' means (docs/protocol.md §3.2). Where runs are
// missing, there is the mean and the number of runs. Comments at the top name entries with diverged
// runs. The table needs the package booktabs.
func LaTeX(out io.Writer, columns []*rows.Column) error {
	if len(columns) == 0 {
		return errors.New("no runs")
	}
	var comments, body strings.Builder
	var lines []string
	head := ""
	for _, c := range columns {
		head += fmt.Sprintf(" & \\multicolumn{2}{c}{%s, %s}", escape(c.Dataset), escape(c.Increment))
		for _, e := range c.Entries {
			if !slices.Contains(lines, e.Name) {
				lines = append(lines, e.Name)
			}
		}
	}
	for _, line := range lines {
		body.WriteString(escape(line))
		for _, c := range columns {
			e := c.Entry(line)
			if e == nil {
				e = new(rows.Entry)
			}
			fmt.Fprintf(&body, " & %s & %s", number(e, results.FinalAccuracy), number(e, results.FinalChange))
			if e.Diverged > 0 {
				fmt.Fprintf(&comments, "%% %d of %d runs of %q on %q, %s-incremental, diverged\n", e.Diverged, e.Done, line,
					c.Dataset, c.Increment)
			}
		}
		body.WriteString(" \\\\\n")
	}
	_, err := fmt.Fprintf(out,
		"%s\\begin{tabular}{l%s}\n\\toprule\n%s \\\\\nMethod%s \\\\\n\\midrule\n%s\\bottomrule\n\\end{tabular}\n",
		&comments, strings.Repeat("rr", len(columns)), head, strings.Repeat(" & $A_{\\bar e}$ & $F_{\\bar e}$", len(columns)),
		&body)
	return err
}

// number is the mean and deviation of a metric of an entry.
func number(e *rows.Entry, m *results.Metric) string {
	v := e.Summary(m)
	switch {
	case e.Done == 0 || math.IsNaN(v.Mean):
		return "--"
	case e.Done < len(e.Rows):
		return fmt.Sprintf("$%.2f$ (%d of %d)", v.Mean, e.Done, len(e.Rows))
	case math.IsNaN(v.StdSeeds):
		return fmt.Sprintf("$%.2f$", v.Mean)
	}
	return fmt.Sprintf("$%.2f \\pm %.2f$", v.Mean, v.StdSeeds)
}

// special are what TeX reads as something else, what its usual fonts lack or print as another
// character, and, at the beginning of a line, what it takes for an option of the line before.
var special = strings.NewReplacer(
	`\`, `\textbackslash{}`, "_", `\_`, "&", `\&`, "%", `\%`, "#", `\#`, "$", `\$`, "{", `\{`, "}", `\}`, "^", `\^{}`,
	"~", `\~{}`,
	"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "[", "{[}", "*", "{*}",
	"α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`, "η", `$\eta$`, "λ", `$\lambda$`, "σ", `$\sigma$`,
	"τ", `$\tau$`,
	"≤", `$\le$`, "≥", `$\ge$`, "∞", `$\infty$`, "−", "$-$", "×", `$\times$`, "±", `$\pm$`,
)

// escape writes a text so that TeX prints it as it is; Greek letters and signs beyond those of this
// program's own names need a TeX that knows them, such as LuaLaTeX.
func escape(s string) string { return special.Replace(s) }
