package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz"
)

// runSet is runs that are compared with each other: those of a grid, or those of files, which are the rows of a grid without a name.
type runSet struct {
	*findings.Grid
	id    string
	files map[*rows.Row]RunFile // of the runs that are there
	whole bool                  // the runs are known from their files, not from the rows of a grid alone
}

// found works out what the runs show: those of grids, which are known by their rows, or those of files, which make a grid of their own.
func (in *RunsInput) found() (f *findings.Findings, files map[*rows.Row]RunFile, err error) {
	files = map[*rows.Row]RunFile{}
	if f = in.Findings; f == nil {
		all, err := rowsOf(in.Files, files)
		if err != nil {
			return nil, nil, err
		}
		f, err = findings.New(all)
		return f, files, err
	}
	for _, g := range f.Grids {
		for _, r := range g.Rows {
			for _, run := range rows.Runs([]*rows.Row{r}) {
				files[r] = RunFile{Run: run}
			}
		}
	}
	return f, files, nil
}

// rowsOf returns the rows of runs, whose lines are called as in figures, and notes which file each is from. Of a run that is there
// twice, as its evaluations differ, the one with more of them comes first and counts.
func rowsOf(all []RunFile, files map[*rows.Row]RunFile) (out []*rows.Row, err error) {
	of, by := map[*results.Run]RunFile{}, map[string][]*results.Run{}
	for _, f := range slices.SortedStableFunc(slices.Values(all), func(a, b RunFile) int { return cmp.Compare(len(b.Run.Curve), len(a.Run.Curve)) }) {
		at := f.Run.Dataset + " " + f.Run.Increment
		of[f.Run], by[at] = f, append(by[at], f.Run)
	}
	for _, at := range slices.Sorted(maps.Keys(by)) {
		groups, err := viz.Groups(by[at])
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			for _, r := range g.Runs {
				row := rows.Of([]*results.Run{r})[0]
				row.Grid, row.Method, row.Program = "runs", g.Label, strings.TrimSpace(r.Measured.Version+" "+r.Measured.Commit)
				out, files[row] = append(out, row), of[r]
			}
		}
	}
	return out, nil
}

// runs are those of entries that are there.
func (s *runSet) runs(entries ...*findings.Entry) (out []*results.Run) {
	for _, e := range entries {
		for _, r := range e.Rows {
			if f, ok := s.files[r]; ok {
				out = append(out, f.Run)
			}
		}
	}
	return out
}

// blocks are what the page shows of the set: first what it decides.
func (s *runSet) blocks(ctx context.Context) ([]block, error) {
	var out, details []block
	var tables []*versus.Table
	for i, c := range s.Columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		compared := compare(c)
		b := comparison(c, compared)
		b.ID = fmt.Sprintf("%s-%d", s.id, i)
		b.Table.ID = "t" + b.ID
		out, tables = append(out, b), append(tables, compared)
		if s.whole {
			all, err := s.details(c)
			if err != nil {
				return nil, err
			}
			details = append(details, block{ID: b.ID + "d", Title: c.Name() + ": tasks", Parts: all})
		}
	}
	out = append(out, s.costs(tables))
	if s.whole {
		return slices.Concat(out, []block{s.settings()}, s.figures(), details, []block{s.origin()}), nil
	}
	return []block{{ID: s.id, Title: s.Heading(), Parts: append(append(out, s.figures()...), s.origin())}}, nil
}

// origin says where the results are from, run by run.
func (s *runSet) origin() block {
	p := s.Provenance()
	b := block{Title: "Where the results are from", Parts: []block{s.list(), {Title: "Runs that failed", Folded: true, Notes: p.Failures}}}
	if !s.whole {
		b.Facts = []fact{{Name: "command", Value: p.Command}}
	}
	b.Facts = append(b.Facts, p.Facts()...)
	return b
}

// settings tell the parameters of every method, in what the runs differ, and what has to be known to read them.
func (s *runSet) settings() block {
	methods := &table{Head: []string{"method", "name", "parameters"}}
	b := block{ID: "methods", Title: "Methods and settings", Table: methods}
	all := map[string]map[string]int{} // how many runs have each value of a setting
	told := append([]string{"method", "params", "eval_every", "dataset", "increment"}, results.Repetition...)
	for _, r := range s.Rows {
		run := s.files[r].Run
		for name, value := range run.Settings(told...) {
			if all[name] == nil {
				all[name] = map[string]int{}
			}
			all[name][value]++
		}
		for _, text := range run.Remarks() {
			b.Notes = append(b.Notes, fmt.Sprintf("Note on %s: %s", run.Name(), text))
		}
		if !slices.ContainsFunc(methods.Rows, func(known row) bool { return known.Series == r.Method }) {
			methods.add(row{Series: r.Method}, datum{Text: r.Method}, datum{Text: run.Method, Class: "text"}, datum{Text: cmp.Or(parameters(run), "none"), Class: "text"})
		}
	}
	differ, same := block{Title: "In what the configurations differ (runs)"}, block{Title: "What the configurations have in common", Folded: true}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n, with := all[name], 0
		for _, runs := range n {
			with += runs
		}
		if len(n) == 1 && with == len(s.Rows) {
			same.Facts = append(same.Facts, fact{Name: name, Value: slices.Collect(maps.Keys(n))[0]})
			continue
		}
		if with < len(s.Rows) {
			n["–"] = len(s.Rows) - with
		}
		differ.Facts = append(differ.Facts, fact{Name: name, Value: tally(n)})
	}
	b.Parts = []block{differ, same}
	return b
}

// parameters are those of a run's method, also those that it has by default if this program knows the method.
func parameters(run *results.Run) string {
	params := run.Params
	if all, err := method.Resolve(run.Method, params); err == nil {
		params = all
	}
	return (&results.Run{Params: params}).ParamText()
}

// list is a table of all runs.
func (s *runSet) list() block {
	t := &table{ID: "runs-" + s.id, Head: []string{"method", "data", "label set, timeline, seed", "A, %", "F, %", "run", "model’s SHA-256"}}
	for _, r := range s.Rows {
		if r.State != rows.Done {
			continue
		}
		where := datum{Text: fmt.Sprintf("%d, %d, %d", r.LabelSet, r.Timeline, r.Seed)}
		where.Sort = fmt.Sprintf("#%020d%020d%020d", r.LabelSet, r.Timeline, r.Seed) // no number, so that it is compared as text
		t.add(row{Series: r.Line(), Data: r.Dataset, Increment: r.Increment}, datum{Text: r.Line()}, datum{Text: r.Dataset + ", " + r.Increment, Class: "text"},
			where, numberCell(r.A, fixed(2)), numberCell(r.F, fixed(2)), datum{Text: r.Run}, datum{Text: r.Model[:min(12, len(r.Model))]})
	}
	return block{Title: "All runs", Folded: true, Table: t}
}
