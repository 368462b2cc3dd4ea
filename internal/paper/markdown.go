package paper

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Markdown writes the verdicts as a text for a repository; the page of `pcl report` has the tables
// and comparisons behind them. The text depends on the rows alone: neither the day nor the machine
// plays a part. from says where the rows come from, such as a folder.
func (f *Findings) Markdown(out io.Writer, from string) error {
	m := &markdown{}
	m.line(strings.Replace(markdownHead, "SOURCE", from, 1))
	if len(f.Claims) > 0 {
		m.verdicts("The paper's claims", claimsHead, f.Claims)
	}
	if slices.ContainsFunc(f.Controls, func(v *Verdict) bool { return v.Outcome != NotTestable }) {
		m.verdicts("Controls", controlsHead, f.Controls)
	}
	m.grids(f.Grids)
	if missing := f.Missing(); len(missing) > 0 {
		m.line("## What is missing\n")
		for _, x := range missing {
			m.line("* %s: %s", x.Name, x.Value)
		}
	}
	_, err := io.WriteString(out, m.String())
	return err
}

const markdownHead = `# What of the paper is reproduced

Written by ` + "`pcl report --markdown`" + ` from SOURCE; do not edit it. Without ` + "`--markdown`" + ` the same command makes the page with
everything behind these verdicts: each comparison with its interval and p-value, and the tables beside the paper's.
A is the mean final accuracy of the tasks in percent; [docs/grid.md](docs/grid.md#5-report) explains the tests.
`

const claimsHead = `A claim is a number of comparisons between methods. Each is tested by an exact test over situations, with Holm's correction for all comparisons of the claim
on a data set (those of tuned values are a family of their own), and has a 95 % interval.

* The claim **holds** if all comparisons that can be tested show it: the difference has the claimed sign, is significant at 5 %, and its interval does not contain 0.
* It **does not hold** if one of them shows the opposite, in the same way.
* Otherwise it is **not shown**.

The interval allows for the correlation of situations with the same label set, and the test does not ([docs/protocol.md](docs/protocol.md#35-which-differences-are-real)). That
two methods are alike holds if the whole interval of the difference is within the margin.
`

const controlsHead = `What the paper lacks: statements about what could explain the differences, judged in the same way.
`

// markdown is a text in the making.
type markdown struct {
	strings.Builder
}

func (m *markdown) line(format string, args ...any) {
	if len(args) == 0 {
		m.WriteString(format + "\n")
		return
	}
	fmt.Fprintf(m, format+"\n", args...)
}

func (m *markdown) row(cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	m.line("| %s |", strings.Join(cells, " | "))
}

func (m *markdown) head(cells ...string) {
	m.row(cells...)
	m.line("|%s", strings.Repeat(" --- |", len(cells)))
}

// verdicts writes a table of claims.
func (m *markdown) verdicts(title, text string, all []*Verdict) {
	m.line("## %s\n", title)
	m.line(text)
	m.head("", "claim", "verdict", "comparisons")
	for i, v := range all {
		m.row(fmt.Sprint(i+1), v.Text, "**"+string(v.Outcome)+"**", v.Summary)
	}
	m.line("")
}

// grids lists the runs that the verdicts rest on.
func (m *markdown) grids(all []*rows.Table) {
	m.line("## The runs\n")
	m.head("grid", "what", "data", "runs", "hours of one process")
	for _, g := range all {
		p := g.Provenance()
		m.row("`"+g.Name+"`", plain(g.Title), plain(strings.Join(data(g), "; ")), fmt.Sprintf("%d of %d", p.Done, p.Cells),
			fmt.Sprintf("%.1f", p.Hours))
	}
	m.line("")
}

// data lists the data sets, with what differs from the paper.
func data(g *rows.Table) (out []string) {
	for _, c := range g.Columns {
		text := c.Dataset
		if d := differs(c); d != "" {
			text += " (the paper has " + c.PaperDataset + ")"
		}
		out = once(out, text)
	}
	return out
}
