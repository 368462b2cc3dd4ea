package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// runSet is runs that are compared with each other: those of a grid, or those of files.
type runSet struct {
	*rows.Table
	id    string
	files map[string]results.File // by the runs' IDs; none for a grid, of which the rows are all that is known
}

// runs returns the runs of entries, without missing ones.
func (s *runSet) runs(entries ...*rows.Entry) (out []*results.Run) {
	for _, e := range entries {
		if len(s.files) == 0 {
			out = append(out, rows.Runs(e.Rows)...)
			continue
		}
		for _, r := range e.Rows {
			out = append(out, r.Run)
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
		b, compared := comparison(c)
		b.ID = fmt.Sprintf("%s-%d", s.id, i)
		b.Table.ID = "t" + b.ID
		if i == 0 {
			b.Parts = append(b.Parts, block{Title: "What the columns say", Folded: true, Notes: []string{columnsNote}})
		}
		b.Parts = append(b.Parts, reach(c, compared.Bounds))
		out, tables = append(out, b), append(tables, compared)
		if len(s.files) > 0 {
			parts, err := s.details(c)
			if err != nil {
				return nil, err
			}
			details = append(details, block{ID: b.ID + "d", Title: c.Benchmark.String() + ": tasks", Parts: parts})
		}
	}
	out = append(out, s.costs(tables))
	if len(s.files) > 0 {
		return slices.Concat(out, []block{s.settings()}, s.figures(), details, []block{s.origin()}), nil
	}
	title := fmt.Sprintf("%s (%s)", s.Title, s.Name)
	if s.Paper != "" {
		title = s.Paper + ": " + title
	}
	return []block{{ID: s.id, Title: title, Parts: append(append(out, s.figures()...), s.origin())}}, nil
}

// origin says where the results are from, run by run.
func (s *runSet) origin() block {
	p := s.Provenance()
	b := block{Title: "Where the results are from",
		Parts: []block{s.list(), {Title: "Runs that failed", Folded: true, Notes: p.Failures}}}
	if len(s.files) == 0 {
		b.Facts = []fact{{Name: "command", Value: paper.Command(s.Table)}}
	}
	b.Facts = append(b.Facts, p.Facts...)
	return b
}

// settings tell the parameters of every method, in what the runs differ, and what has to be known
// to read them.
func (s *runSet) settings() block {
	methods := &table{Head: []string{"method", "name", "parameters"}}
	b := block{ID: "methods", Title: "Methods and settings", Table: methods}
	var all []map[string]string // by run
	names := map[string]bool{}
	told := append([]string{"method", "params", "eval_every", "dataset", "increment"}, results.Repetition...)
	for _, r := range s.Rows {
		run := *r.Run
		own := run.Settings(told...)
		all = append(all, own)
		for name := range own {
			names[name] = true
		}
		for _, text := range run.Remarks() {
			b.Notes = append(b.Notes, fmt.Sprintf("Note on %s: %s", run.Name(), text))
		}
		if !slices.ContainsFunc(methods.Rows, func(known row) bool { return known.Series == r.Method }) {
			// with defaults, as this program knows the method
			if all, err := method.Resolve(run.Method, run.Params); err == nil {
				run.Params = all
			}
			methods.add(row{Series: r.Method}, datum{Text: r.Method}, datum{Text: run.Method, Class: "text"},
				datum{Text: cmp.Or(run.ParamText(), "none"), Class: "text"})
		}
	}
	differ, same := block{Title: "In what the configurations differ (runs)"},
		block{Title: "What the configurations have in common", Folded: true}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if n := values(all, func(own map[string]string) string { return cmp.Or(own[name], "–") }); len(n) > 1 {
			differ.Facts = append(differ.Facts, fact{Name: name, Value: tally(n)})
		} else {
			same.Facts = append(same.Facts, fact{Name: name, Value: all[0][name]})
		}
	}
	b.Parts = []block{differ, same}
	return b
}

// list is a table of all runs.
func (s *runSet) list() block {
	t := &table{ID: "runs-" + s.id, Head: []string{"method", "data", "label set", "timeline", "seed", "A, %", "F, %",
		"run", "model’s SHA-256"}}
	for _, r := range s.Rows {
		if r.State == rows.Done {
			t.add(row{Series: r.Line(), Data: r.Dataset, Increment: r.Increment}, datum{Text: r.Line()},
				datum{Text: r.Dataset + ", " + r.Increment, Class: "text"},
				datum{Text: fmt.Sprint(r.LabelSet)}, datum{Text: fmt.Sprint(r.Timeline)}, datum{Text: fmt.Sprint(r.Seed)},
				numberCell(r.Run.A, fixed(2)), numberCell(r.Run.F, fixed(2)),
				datum{Text: r.Run.ID}, datum{Text: r.Run.ModelSHA256[:min(12, len(r.Run.ModelSHA256))]})
		}
	}
	return block{Title: "All runs", Folded: true, Table: t}
}
