package findings

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Markdown writes the findings as a text for a repository. It depends on the rows alone: neither the day nor the machine
// plays a part. from says where these are from, such as the name of a folder. notes may have a sentence about a table, by its
// name, such as why it is missing.
func (f *Findings) Markdown(out io.Writer, from string, notes map[string]string) error {
	m := &markdown{}
	m.line(strings.Replace(markdownHead, "SOURCE", from, 1))
	m.verdicts("The paper's claims", claimsHead, f.Claims)
	if slices.ContainsFunc(f.Controls, func(v *Verdict) bool { return v.Outcome != NotTestable }) {
		m.verdicts("Controls", controlsHead, f.Controls)
	}
	for _, g := range f.Grids {
		m.grid(g)
	}
	m.missing(f.Missing(notes))
	_, err := io.WriteString(out, m.String())
	return err
}

const markdownHead = `# What of the paper is reproduced

Written by ` + "`pcl grid report --markdown`" + ` from SOURCE, where each run's numbers, times, program and hashes are; do not
edit it. Every number is measured. A is the mean final accuracy of the tasks, F the mean change since each task's own end, both in
percent; ± is the population standard deviation of the seeds' means, as in the paper ([docs/protocol.md](docs/protocol.md#32-means-and-spreads)), and *± runs* that of A over the single runs, which is larger, since
situations differ: the two must not be compared. *Runs* is a
hash of the results behind a line. [docs/grid.md](docs/grid.md#5-report) explains the tests and verdicts.
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

// row writes a line of a table.
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

// verdicts writes a table of claims, and below it the comparisons behind each.
func (m *markdown) verdicts(title, text string, all []*Verdict) {
	m.line("## %s\n", title)
	m.line(text)
	m.head("", "claim", "verdict", "comparisons")
	for i, v := range all {
		m.row(fmt.Sprint(i+1), v.Text, "**"+string(v.Outcome)+"**", v.Summary)
	}
	m.line("\n### %s: the comparisons\n", title)
	m.line("Differences are in points of A unless the claim is about forgetting, with their 95 % interval; p after the correction. *Runs* are the hashes of the two sides.\n")
	for i, v := range all {
		m.line("**%d. %s**\n", i+1, v.Text)
		m.comparisons(v)
	}
}

// comparisons writes a table of those for which there are runs, and says why others were not tested.
func (m *markdown) comparisons(v *Verdict) {
	with := slices.DeleteFunc(slices.Clone(v.Parts), func(p *Part) bool { return p.Tested == nil })
	if len(with) > 0 {
		m.head("results", "compared", "difference", "p", "situations", "difference, paper", "", "runs")
		for _, p := range with {
			t := p.Tested
			m.row(plain(p.Where()), plain(p.Name()), t.difference(), p.p(), fmt.Sprint(t.Situations), p.paper(), string(p.Outcome), fmt.Sprintf("`%s` `%s`", t.A.Hash, t.B.Hash))
		}
		m.line("")
	}
	for _, why := range v.Untested() {
		m.line("Not tested: %s\n", why)
	}
}

// difference is in points, with its interval if there is one.
func (c *Comparison) difference() string {
	if !c.Resampled {
		return Signed(c.Difference)
	}
	return fmt.Sprintf("%s [%s, %s]", Signed(c.Difference), Signed(c.Interval.Low), Signed(c.Interval.High))
}

// p is the corrected p-value if there is one.
func (p *Part) p() string {
	if p.Outcome == NotTestable {
		return "–"
	}
	return PValue(p.Tested.Adjusted)
}

// paper is the paper's difference if it has one.
func (p *Part) paper() string {
	if p.Paper == nil {
		return "–"
	}
	return Signed(*p.Paper)
}

// Where is the place of the results of a part.
func (p *Part) Where() string {
	if p.Column == nil {
		return p.Place
	}
	text := p.Column.Name()
	if p.Column.Grid.Tuned {
		text += ", tuned values"
	}
	return text
}

// grid writes the section of a grid.
func (m *markdown) grid(g *Grid) {
	m.line("## %s\n", plain(g.Heading()))
	p := g.Provenance()
	m.head("", "")
	m.row("command", "`"+p.Command+"`")
	m.row("data", plain(strings.Join(g.data(), "; ")))
	for _, f := range p.Facts() {
		m.row(f.Name, f.Value)
	}
	m.line("")
	for _, c := range g.Columns {
		m.column(c)
	}
	if len(p.Failures) > 0 {
		m.line("These runs failed:\n")
		for _, f := range p.Failures {
			m.line("* %s", f)
		}
		m.line("")
	}
}

// Heading names the grid and what of the paper it is.
func (g *Grid) Heading() string {
	text := fmt.Sprintf("%s (%s)", g.Title, g.Name)
	if g.Paper != "" {
		text = g.Paper + ": " + text
	}
	return text
}

// data lists the data sets, with what differs from the paper.
func (g *Grid) data() (out []string) {
	for _, c := range g.Columns {
		text := c.Dataset
		if d := c.Differs(); d != "" {
			text += " (the paper has " + c.PaperDataset + ")"
		}
		out = once(out, text)
	}
	return out
}

// column writes the table of a data set and increment.
func (m *markdown) column(c *Column) {
	m.line("### %s\n", plain(c.Name()))
	tuned, paper := c.Shows()
	head := []string{"method", "A", "± runs"}
	if tuned {
		head = append(head, "A, tuned")
	}
	if paper {
		head = append(head, "A, paper")
	}
	head = append(head, "F")
	if paper {
		head = append(head, "F, paper")
	}
	m.head(append(head, "rank", "runs")...)
	for _, e := range c.ByA() {
		cells := []string{e.mark(), e.Text(e.A), e.A.Spread()}
		if tuned {
			cells = append(cells, otherText(e))
		}
		if paper {
			cells = append(cells, paperText(e.PaperA))
		}
		cells = append(cells, e.Text(e.F))
		if paper {
			cells = append(cells, paperText(e.PaperF))
		}
		m.row(append(cells, e.rankText(), e.runsText())...)
	}
	m.line("")
	m.line(c.Note() + "\n")
}

// missing lists what of the paper has no results.
func (m *markdown) missing(all []Missing) {
	m.line("## What is missing\n")
	for _, x := range all {
		m.line("* %s: %s", x.Table, x.Text)
	}
}
