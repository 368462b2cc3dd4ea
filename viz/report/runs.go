package report

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// RunsInput is the material of a report of runs.
type RunsInput struct {
	Title string // heads the page; "Results" where it is empty
	Files []RunFile
	Origin
}

// runsPage is what the template shows.
type runsPage struct {
	Title, Headline string
	Colors          template.CSS
	Rows            []runRow
	Several         bool // settings
	Repeated        bool
	Remarks         []remark
	Sections        []runSection
	Figures         []runFigure // that take in several settings
	Made            made
	Params          []paramList
	Cite            citation
}

// remark is what has to be known about a run to read its figures.
type remark struct{ Run, Text string }

func remarks(files []RunFile) []remark {
	var out []remark
	for _, f := range files {
		for _, text := range f.Run.Remarks() {
			out = append(out, remark{f.Run.Name(), text})
		}
	}
	return out
}

// runRow is a line of the table: a method in a setting.
type runRow struct {
	resultRow
	Setting string
}

type paramList struct {
	Title string
	Facts []fact
}

// runFigure is a figure, or why there is none.
type runFigure struct {
	Title   string
	Picture template.HTML
	Note    string
}

// Runs writes a page about training runs: what each method reached, with the standard deviation over its
// repetitions; for each setting the figures that can be drawn from its runs; the parameters, versions and
// checksums behind it. The page is complete in itself. Runs stops when ctx is done.
func Runs(ctx context.Context, w io.Writer, in RunsInput) error {
	if len(in.Files) == 0 {
		return errors.New("report: no runs; a page needs at least one")
	}
	p, err := newRunsPage(ctx, &in)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return writePage(w, "runs.gohtml", p)
}

func newRunsPage(ctx context.Context, in *RunsInput) (*runsPage, error) {
	p := &runsPage{Title: in.Title, Cite: cite, Made: runsMade(in)}
	if p.Title == "" {
		p.Title = "Results"
	}
	files, repeats := once(in.Files)
	all := settingsOf(files)
	p.Several = len(all) > 1
	var rows []resultRow
	for _, s := range all {
		table, err := newResultTable(s.runs())
		if err != nil {
			return nil, err
		}
		for i := range table.Rows {
			table.Rows[i].Index = len(rows)
			rows = append(rows, table.Rows[i])
			p.Rows = append(p.Rows, runRow{table.Rows[i], s.Title})
		}
		p.Repeated = p.Repeated || table.Repeated
		section, err := newRunSection(ctx, s, table)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, *section)
		p.Params = append(p.Params, paramList{s.Title, s.facts()})
	}
	p.Colors = methodColors(rows)
	p.Headline, p.Remarks = runsHeadline(files, all), append(remarks(files), repeats...)
	p.Figures = acrossSettings(files, all)
	return p, ctx.Err()
}

func runsHeadline(files []RunFile, all []*setting) string {
	methods, situations, seeds := map[string]bool{}, map[situation]bool{}, map[uint64]bool{}
	for _, f := range files {
		methods[f.Run.MethodTitle] = true
		situations[situationOf(f.Run)], seeds[f.Run.Seed] = true, true
	}
	return fmt.Sprintf("%s of %s in %s with %s, in %s.", plural.Of(len(files), "run"), plural.Of(len(methods), "method"),
		plural.Of(len(situations), "situation"), plural.Of(len(seeds), "seed"), plural.Of(len(all), "setting"))
}

// situation is a data set, a label set and a timeline, or a scenario that was written by hand: methods are compared over several.
type situation struct {
	dataset            string
	labelSet, timeline uint64
	scenario           string
}

func situationOf(r runPtr) situation {
	return situation{r.Dataset, r.LabelSet, r.Timeline, r.OwnScenario()}
}

// block is what one ranking of the methods is for.
type block struct {
	situation
	increment string
	seed      uint64
}

// runsMade tells what the runs were made with; where they differ, all of it.
func runsMade(in *RunsInput) made {
	m := in.Origin.made()
	each := func(name string, value func(results.Maker) string) {
		var values []string
		for _, f := range in.Files {
			for _, maker := range f.Run.Measured.Makers() {
				if v := strings.TrimSpace(value(maker)); v != "" && !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		m.add(name, strings.Join(values, "; "))
	}
	each("runs made with", func(by results.Maker) string { return by.Version + " " + by.Commit })
	each("their Go", func(by results.Maker) string { return by.GoVersion })
	each("backend", func(by results.Maker) string { return by.Backend })
	each("device", func(by results.Maker) string { return by.Device })
	each("threads", func(by results.Maker) string {
		if by.Threads == 0 {
			return ""
		}
		return fmt.Sprint(by.Threads)
	})
	seconds := 0.0
	for _, f := range in.Files {
		seconds += f.Run.Measured.TrainSeconds + f.Run.Measured.EvalSeconds
		m.Files = append(m.Files, inputFile{shared(f.File), f.SHA256})
		if f.Records != "" {
			m.Files = append(m.Files, inputFile{shared(f.Records), f.RecordsSHA256})
		}
	}
	if seconds > 0 {
		m.add("training and evaluation", fmt.Sprintf("%.1f s, all runs together", seconds))
	}
	return m
}

// acrossSettings draws what takes in runs of several settings: accuracy against the memory's size,
// and the methods' ranks.
func acrossSettings(files []RunFile, all []*setting) []runFigure {
	var out []runFigure
	var swept []*setting
	for _, s := range all {
		if slices.ContainsFunc(all, func(o *setting) bool { return onlyBudgetDiffers(s, o) }) {
			swept = append(swept, s)
		}
	}
	if len(swept) > 0 {
		var runs []runPtr
		for _, s := range swept {
			runs = append(runs, s.runs()...)
		}
		out = append(out, drawn("Accuracy and the memory's size", "Look at the distance between the lines at the smallest memories.",
			func(t *viz.Theme) (*viz.Figure, error) { return viz.MemorySize(t, runs...) }))
	}
	if ranked := rankable(files); ranked != nil {
		out = append(out, drawn("Ranks of the methods", "Average ranks by A over situations, increments and seeds, the best at the left; methods on one thick line cannot be told apart at the level of 5 % (Nemenyi's test). "+
			"Runs of one situation are less independent than the test assumes.",
			func(t *viz.Theme) (*viz.Figure, error) {
				ranking, err := viz.RankRuns(0.05, ranked...)
				if err != nil {
					return nil, err
				}
				return viz.CriticalDifference(t, ranking)
			}))
	}
	return out
}

func onlyBudgetDiffers(a, b *setting) bool {
	names := results.Differing(a.config, b.config)
	return len(names) == 1 && names[0] == "memory.budget"
}

// rankable returns all runs if there are enough methods and blocks for an average of rankings, else nil.
func rankable(files []RunFile) []runPtr {
	methods, blocks := map[string]bool{}, map[block]bool{}
	var runs []runPtr
	for _, f := range files {
		methods[f.Run.Method+" "+paramText(f.Run.Params)] = true
		blocks[block{situationOf(f.Run), f.Run.Increment, f.Run.Seed}] = true
		runs = append(runs, f.Run)
	}
	if len(methods) < 5 || len(blocks) < 3 {
		return nil
	}
	return runs
}

// drawn draws a figure, or says why it cannot be drawn.
func drawn(title, note string, figure func(*viz.Theme) (*viz.Figure, error)) runFigure {
	shown, err := picture(figure)
	if err != nil {
		return runFigure{Title: title, Note: "Left out: " + strings.TrimPrefix(err.Error(), "viz: ") + "."}
	}
	return runFigure{Title: title, Picture: shown, Note: note}
}
