package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Signed writes a difference, with the sign as in print.
func Signed(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%+.2f", x), "-", "−") }

// plain is a text whose characters mean nothing in Markdown, such as a name that a grid's author
// has chosen.
func plain(text string) string { return markup.Replace(text) }

var markup = strings.NewReplacer(`\`, `\\`, "<", "&lt;", "*", `\*`, "`", "\\`", "$", `\$`, "[", `\[`)

// Note says what a column's numbers are means over, and what differs from the paper.
func Note(c *rows.Column) string {
	labelSets, timelines, seeds := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
	situations, trials := map[stats.Situation]bool{}, map[stats.Trial]bool{}
	for _, e := range c.Entries {
		for _, r := range e.Rows {
			labelSets[r.LabelSet], timelines[r.Timeline], seeds[r.Seed] = true, true, true
			situations[r.Situation], trials[r.Trial] = true, true
		}
	}
	text := fmt.Sprintf("Means over %s × %s × %s.", plural.Of(len(labelSets), "label set"),
		plural.Of(len(timelines), "timeline"), plural.Of(len(seeds), "seed"))
	if len(trials) < len(labelSets)*len(timelines)*len(seeds) { // not each with each
		text = fmt.Sprintf("Means over %s (label sets with timelines), with %s.", plural.Of(len(situations), "situation"),
			plural.Of(len(seeds), "seed"))
	}
	if tableOf(c) != "" {
		text += caveat(c, len(trials))
	}
	if slices.ContainsFunc(c.Entries, func(e *rows.Entry) bool { return e.Done > 0 && !e.Complete() }) {
		text += " Methods with missing runs are not ranked."
	}
	return text
}

// paperRuns is the number of runs of each method in the paper.
const paperRuns = 27

// caveat says in what the column differs from the paper's table.
func caveat(c *rows.Column, runs int) string {
	var parts []string
	if differs(c) != "" {
		parts = append(parts, fmt.Sprintf("the data are %s, not %s", c.Dataset, c.PaperDataset))
	}
	if serial := tableOf(c) == "Table 5" || tableOf(c) == "Table 6"; !serial && runs != paperRuns {
		parts = append(parts, fmt.Sprintf("%d runs of each method, not %d", runs, paperRuns))
	}
	if c.Table.Tuned {
		parts = append(parts, "tuned values")
	}
	if len(parts) == 0 {
		return " The data and the number of runs are the paper's; its label sets and timelines are not published."
	}
	return " Against the paper: " + strings.Join(parts, "; ") + "; its label sets and timelines are not published."
}

// lowerFirst is a sentence, which does not begin with a name, in the middle of another one.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
