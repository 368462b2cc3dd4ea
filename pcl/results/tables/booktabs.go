package tables

import (
	"fmt"
	"io"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Column is a pair of columns of a LaTeX table, A and F, for a data set in an increment.
type Column struct{ Dataset, Increment string }

// Booktabs writes a LaTeX table in the form of the paper's: a line for each method, and for each column the two texts
// that entry returns, "--" where they are empty. The table needs the package booktabs.
func Booktabs(out io.Writer, columns []Column, lines []string, entry func(line string, c Column) (a, f string)) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{tabular}{l%s}\n\\toprule\n", strings.Repeat("rr", len(columns)))
	for _, c := range columns {
		fmt.Fprintf(&b, " & \\multicolumn{2}{c}{%s, %s}", escape(c.Dataset), escape(c.Increment))
	}
	b.WriteString(" \\\\\nMethod" + strings.Repeat(" & $A_{\\bar e}$ & $F_{\\bar e}$", len(columns)) + " \\\\\n\\midrule\n")
	for _, line := range lines {
		b.WriteString(escape(line))
		for _, c := range columns {
			a, f := entry(line, c)
			fmt.Fprintf(&b, " & %s & %s", orDashes(a), orDashes(f))
		}
		b.WriteString(" \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// Diverged notes, as comments of LaTeX, how many of the runs behind each entry of a table have diverged. It writes nothing
// for entries without such runs.
func Diverged(out io.Writer, columns []Column, lines []string, runs func(line string, c Column) []*results.Run) error {
	for _, line := range lines {
		for _, c := range columns {
			g := results.RunGroup{Runs: runs(line, c)}
			n := g.Diverged()
			if n == 0 {
				continue
			}
			if _, err := fmt.Fprintf(out, "%% %d of %d runs of %q on %q, %s-incremental, diverged\n", n, len(g.Runs), line, c.Dataset, c.Increment); err != nil {
				return err
			}
		}
	}
	return nil
}

func orDashes(text string) string {
	if text == "" {
		return "--"
	}
	return text
}

// Mean is a mean as an entry of a LaTeX table.
func Mean(x float64) string { return fmt.Sprintf("$%.2f$", x) }

// Spread is a mean and its deviation as an entry of a LaTeX table.
func Spread(mean, std float64) string { return fmt.Sprintf("$%.2f \\pm %.2f$", mean, std) }

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
