package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
)

// GridsInput is the material of a report of grids.
type GridsInput struct {
	Title    string // heads the page; "Results" where it is empty
	Findings *findings.Findings
	// Notes may have a sentence about a table of the paper, by its name, such as why it is missing.
	Notes map[string]string
	Origin
}

// gridsPage is what the template shows.
type gridsPage struct {
	Title, Headline  string
	Claims, Controls []claimRow
	Grids            []gridSection
	Missing          []fact
	Made             made
	Cite             citation
}

// Grids writes a page about grids: the verdicts on the paper's claims, each table beside the paper's numbers with the
// methods that a test cannot tell from the best, figures, and where all of it is from. The page is complete in itself.
// Grids stops when ctx is done.
func Grids(ctx context.Context, w io.Writer, in GridsInput) error {
	if len(in.Findings.Grids) == 0 {
		return errors.New("report: no results of grids; a page needs at least one grid")
	}
	p := &gridsPage{Title: cmp.Or(in.Title, "Results"), Cite: cite, Made: in.Origin.made()}
	p.Headline = gridsHeadline(in.Findings)
	at := entryIDs(in.Findings)
	if tested(in.Findings.Claims) { // else no grid is one of the paper's
		p.Claims = claimRows(in.Findings.Claims, at)
		p.Missing = missing(in)
	}
	if tested(in.Findings.Controls) {
		p.Controls = claimRows(in.Findings.Controls, at)
	}
	for i, g := range in.Findings.Grids {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := newGridSection(g, at)
		if err != nil {
			return fmt.Errorf("report: %s: %w", g.Name, err)
		}
		s.ID = fmt.Sprintf("g%d", i)
		p.Grids = append(p.Grids, *s)
	}
	return writePage(w, "grids.gohtml", p)
}

func tested(all []*findings.Verdict) bool {
	return slices.ContainsFunc(all, func(v *findings.Verdict) bool { return v.Outcome != findings.NotTestable })
}

func missing(in GridsInput) (out []fact) {
	for _, x := range in.Findings.Missing(in.Notes) {
		out = append(out, fact{x.Table, x.Text})
	}
	return out
}

func gridsHeadline(f *findings.Findings) string {
	runs, n := 0, map[findings.Outcome]int{}
	for _, g := range f.Grids {
		runs += g.Provenance().Done
	}
	for _, v := range f.Claims {
		n[v.Outcome]++
	}
	var verdicts []string
	for _, o := range []findings.Outcome{findings.Holds, findings.DoesNotHold, findings.NotShown, findings.NotTestable} {
		if n[o] > 0 {
			verdicts = append(verdicts, fmt.Sprintf("“%s” %d", o, n[o]))
		}
	}
	made := fmt.Sprintf("%s in %s.", plural.Of(runs, "run"), plural.Of(len(f.Grids), "grid"))
	if !tested(f.Claims) {
		return made
	}
	return fmt.Sprintf("%s Verdicts on the paper’s %s: %s.", made, plural.Of(len(f.Claims), "claim"), strings.Join(verdicts, ", "))
}

// entryIDs gives each entry a name to link to.
func entryIDs(f *findings.Findings) map[*findings.Entry]string {
	out := map[*findings.Entry]string{}
	for i, g := range f.Grids {
		for j, c := range g.Columns {
			for k, e := range c.Entries {
				out[e] = fmt.Sprintf("g%d-%d-%d", i, j, k)
			}
		}
	}
	return out
}

// claimRow is a line of the table of claims.
type claimRow struct {
	ID, Text, Outcome, Class, Summary string
	Parts                             []partRow
	Untested                          []string
}

// partRow is a comparison that was tested.
type partRow struct {
	Where, Outcome, Class, Why            string
	Method, Than, MethodLink, ThanLink    string
	Rivals                                string
	Difference, Interval, P, Pairs, Paper string
}

var outcomeClass = map[findings.Outcome]string{findings.Holds: "good", findings.DoesNotHold: "bad", findings.NotTestable: "small"}

func claimRows(all []*findings.Verdict, at map[*findings.Entry]string) (out []claimRow) {
	for _, v := range all {
		row := claimRow{ID: v.ID, Text: v.Text, Outcome: string(v.Outcome), Class: outcomeClass[v.Outcome], Summary: v.Summary, Untested: v.Untested()}
		for _, p := range v.Parts {
			if p.Tested != nil {
				row.Parts = append(row.Parts, newPartRow(p, at))
			}
		}
		out = append(out, row)
	}
	return out
}

func newPartRow(p *findings.Part, at map[*findings.Entry]string) partRow {
	t := p.Tested
	row := partRow{
		Where: p.Where(), Outcome: string(p.Outcome), Class: outcomeClass[p.Outcome], Why: p.Why,
		Method: p.Method, Than: p.Than, MethodLink: at[t.A], ThanLink: at[t.B],
		Difference: findings.Signed(t.Difference), Pairs: fmt.Sprint(t.Situations),
	}
	if p.Rivals > 1 {
		row.Rivals = fmt.Sprintf("the closest of %d: ", p.Rivals)
	}
	if t.Resampled {
		row.Interval = interval(t.Interval.Low, t.Interval.High)
	}
	if p.Outcome != findings.NotTestable {
		row.P = findings.PValue(t.Adjusted)
	}
	if p.Paper != nil {
		row.Paper = findings.Signed(*p.Paper)
	}
	return row
}
