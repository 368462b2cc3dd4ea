// Package report writes runs, or a notebook, as a single self-contained HTML page.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
)

// RunsInput is the material of a page about runs.
type RunsInput struct {
	Title    string          // heads the page; "Results" where it is empty
	Findings *paper.Findings // of grids; nil stands for [FindingsOf] the files
	Files    []results.File  // of which the page tells more than rows of grids do
	Toy      []*toy.Trace    // descents on the two synthetic functions, shown last
	// Brief pages begin with what a newcomer has to know and one picture; all else is folded.
	Brief bool
	Next  string // the command that would make what a brief page says general
	Origin
}

// runsPage is what the template shows.
type runsPage struct {
	Title, Headline string
	Blocks          []block
	Made            made
}

// Runs writes a page about training runs. It begins with what they decide: for each data set and
// increment the methods in one table, with the tests of their differences from one of them, and
// beside the paper's numbers where it has such; the verdicts on the paper's claims if grids of it
// are among them. Figures, steps, and what all of it was made from follow. The page is complete in
// itself. Runs stops when ctx is done.
func Runs(ctx context.Context, w io.Writer, in RunsInput) error {
	p, err := in.page(ctx)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return templates.ExecuteTemplate(w, "runs.gohtml", p)
}

func (in RunsInput) page(ctx context.Context) (*runsPage, error) {
	p := &runsPage{Title: cmp.Or(in.Title, "Results"), Made: in.Origin.made()}
	f := in.Findings
	if f == nil {
		var err error
		if f, err = FindingsOf(in.Files); err != nil {
			return nil, err
		}
	}
	if len(f.Grids) == 0 {
		return nil, errors.New("no runs; a page needs at least one")
	}
	files := map[string]results.File{}
	for _, file := range in.Files {
		files[file.Run.ID] = file
		p.Made.Files = append(p.Made.Files, sumsOf(file.Path, file.Records())...)
	}
	p.Headline, p.Blocks = headline(f), claimBlocks(f)
	for i, g := range f.Grids {
		s := runSet{Table: g, id: fmt.Sprintf("g%d", i), files: files}
		blocks, err := s.blocks(ctx)
		if err != nil {
			return nil, err
		}
		p.Blocks = append(p.Blocks, blocks...)
	}
	p.Blocks = append(p.Blocks, missing(f), toyBlock(in.Toy))
	if in.Brief {
		p.Headline, p.Blocks = in.brief(f, p)
	}
	p.Blocks = outlined(p.Blocks, 2)
	numbered(p.Blocks, 0)
	return p, nil
}

// brief puts a sentence and a picture, one of the blocks', before a page's blocks and folds these.
func (in RunsInput) brief(f *paper.Findings, p *runsPage) (string, []block) {
	picture := opener(p.Blocks)
	picture.ID, picture.Title = "first", "What each method knows of the tasks that have begun"
	picture.Notes = []string{p.Headline + " The average is over all tasks that have begun: it falls when one arrives."}
	if in.Next != "" {
		picture.Command, picture.Notes = in.Next,
			append(picture.Notes, "Whether it holds in general, these commands would show:")
	}
	rest := slices.Clone(p.Blocks)
	for i := range rest {
		rest[i].Folded = true
	}
	return opening(f.Grids[0].Columns[0]), append([]block{picture}, rest...)
}

// opener takes the first part that may begin a brief page out of blocks.
func opener(blocks []block) block {
	for i := range blocks {
		parts := blocks[i].Parts
		at := slices.IndexFunc(parts, func(b block) bool { return b.Opens })
		if at >= 0 {
			b := parts[at]
			blocks[i].Parts = slices.Delete(parts, at, at+1)
			return b
		}
	}
	return block{}
}

// FindingsOf makes a grid of its own of runs, whose lines are called as in figures. Of a run that
// is there twice, as its evaluations differ, the one with more of them comes first and counts.
func FindingsOf(files []results.File) (*paper.Findings, error) {
	var runs []*results.Run
	for _, f := range files {
		runs = append(runs, f.Run)
	}
	slices.SortStableFunc(runs, func(a, b *results.Run) int { return cmp.Compare(len(b.Curve), len(a.Curve)) })
	groups := results.GroupBy(runs, (*results.Run).Benchmark)
	slices.SortFunc(groups, func(a, b results.RunGroup) int {
		return cmp.Compare(a.Runs[0].Benchmark().String(), b.Runs[0].Benchmark().String())
	})
	var all []*rows.Row
	for _, g := range groups {
		labels, err := labelsOf(g.Runs)
		if err != nil {
			return nil, err
		}
		var own []*rows.Row
		for i, r := range g.Runs {
			row := rows.Of([]*results.Run{r})[0]
			row.Grid, row.Method = "runs", labels[i]
			row.Program = version(r.Measured.Version + " " + r.Measured.Commit)
			own = append(own, row)
		}
		slices.SortStableFunc(own, func(a, b *rows.Row) int { // the methods one after the other
			return cmp.Compare(slices.Index(labels, a.Method), slices.Index(labels, b.Method))
		})
		all = append(all, own...)
	}
	return paper.New(all)
}

// labelsOf names the lines of runs. Those that stand beside the others have names of their own, and
// change none of these.
func labelsOf(runs []*results.Run) ([]string, error) {
	compared := slices.DeleteFunc(slices.Clone(runs), (*results.Run).Beside)
	if len(compared) == 0 || len(compared) == len(runs) {
		return viz.RunLabels(runs)
	}
	own, err := viz.RunLabels(compared)
	if err != nil {
		return nil, err
	}
	labels := make([]string, len(runs))
	for i, r := range runs {
		if at := slices.Index(compared, r); at >= 0 {
			labels[i] = own[at]
		} else {
			labels[i] = r.Label()
		}
	}
	return labels, nil
}

// entryID is a name for links to the line of a method.
func entryID(e *rows.Entry) string {
	return "e" + checksum([]byte(e.Column.Table.Name + "/" + e.Column.Benchmark.String() + "/" + e.Name))[:16]
}

func headline(f *paper.Findings) string {
	runs := 0
	var all []*rows.Row
	for _, g := range f.Grids {
		runs += g.Provenance().Done
		for _, c := range g.Columns {
			for _, e := range c.Entries {
				all = append(all, e.Rows...)
			}
			for _, e := range c.Beside {
				runs -= e.Done
			}
		}
	}
	methods := values(all, (*rows.Row).Line)
	situations := values(all, func(r *rows.Row) string { return fmt.Sprint(r.Dataset, r.Situation) })
	seeds := values(all, func(r *rows.Row) string { return fmt.Sprint(r.Seed) })
	text := fmt.Sprintf("%s of %s in %s with %s", plural.Of(runs, "run"), plural.Of(len(methods), "method"),
		plural.Of(len(situations), "situation"), plural.Of(len(seeds), "seed"))
	if len(f.Grids) > 1 {
		text += fmt.Sprintf(", in %d grids", len(f.Grids))
	}
	return text + "."
}

// values counts how many of all have each value.
func values[T any](all []T, value func(T) string) map[string]int {
	n := map[string]int{}
	for _, x := range all {
		n[value(x)]++
	}
	return n
}

// tally writes values with their numbers.
func tally(n map[string]int) string {
	var parts []string
	for _, value := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", value, n[value]))
	}
	return strings.Join(parts, ", ")
}
