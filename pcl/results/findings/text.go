package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// Signed writes a difference, with the sign as in print.
func Signed(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%+.2f", x), "-", "−") }

// plain is a text whose characters mean nothing in Markdown, such as a name that a grid's author has chosen.
func plain(text string) string { return markup.Replace(text) }

var markup = strings.NewReplacer(`\`, `\\`, "<", "&lt;", "*", `\*`, "`", "\\`", "$", `\$`, "[", `\[`)

// remark says what is wrong with the runs; mostly nothing is.
func (e *Entry) remark() string {
	var parts []string
	if !e.complete() {
		parts = append(parts, fmt.Sprintf("%d of %d", e.Done, len(e.Rows)))
	}
	if e.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", e.Failed))
	}
	if e.Diverged > 0 {
		parts = append(parts, fmt.Sprintf("%d diverged", e.Diverged))
	}
	return strings.Join(parts, ", ")
}

// ByA returns the entries, the highest mean first; those of a sweep in its order.
func (c *Column) ByA() []*Entry {
	if len(c.Entries) > 0 && len(c.Entries[0].Vary) > 0 {
		return c.Entries
	}
	return slices.SortedStableFunc(slices.Values(c.Entries), func(a, b *Entry) int { return cmp.Compare(b.A.Mean, a.A.Mean) })
}

// note says what the column's numbers are means over, and what differs from the paper.
func (c *Column) note() string {
	labelSets, timelines, seeds := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
	situations, repetitions := map[[2]uint64]bool{}, map[[3]uint64]bool{}
	for _, e := range c.Entries {
		for _, r := range e.Rows {
			labelSets[r.LabelSet], timelines[r.Timeline], seeds[r.Seed] = true, true, true
			situations[[2]uint64{r.LabelSet, r.Timeline}], repetitions[[3]uint64{r.LabelSet, r.Timeline, r.Seed}] = true, true
		}
	}
	text := fmt.Sprintf("Means over %s × %s × %s.", plural.Of(len(labelSets), "label set"), plural.Of(len(timelines), "timeline"), plural.Of(len(seeds), "seed"))
	if len(repetitions) < len(labelSets)*len(timelines)*len(seeds) { // not each with each
		text = fmt.Sprintf("Means over %s (label sets with timelines), with %s.", plural.Of(len(situations), "situation"), plural.Of(len(seeds), "seed"))
	}
	if c.table() != "" {
		text += c.caveat(len(repetitions))
	}
	if slices.ContainsFunc(c.Entries, func(e *Entry) bool { return e.Done > 0 && !e.complete() }) {
		text += " Methods with missing runs are not ranked."
	}
	return text
}

// paperRuns is the number of runs of each method in the paper.
const paperRuns = 27

// caveat says in what the column differs from the paper's table.
func (c *Column) caveat(runs int) string {
	var parts []string
	if c.differs() != "" {
		parts = append(parts, fmt.Sprintf("the data are %s, not %s", c.Dataset, c.PaperDataset))
	}
	if serial := c.table() == "Table 5" || c.table() == "Table 6"; !serial && runs != paperRuns {
		parts = append(parts, fmt.Sprintf("%d runs of each method, not %d", runs, paperRuns))
	}
	if c.Grid.Tuned {
		parts = append(parts, "tuned values")
	}
	if len(parts) == 0 {
		return " The data and the number of runs are the paper's; its label sets and timelines are not published."
	}
	return " Against the paper: " + strings.Join(parts, "; ") + "; its label sets and timelines are not published."
}

// lowerFirst is a sentence, which does not begin with a name, in the middle of another one.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
