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

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
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
	Decisions       []*decision
	Cost            *runFigure
	Differ          []fact // settings in which the runs differ
	Methods         []methodRow
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
	Setting, Dataset, Increment string
}

// methodRow is a method with all its parameters.
type methodRow struct{ Label, Params string }

type paramList struct {
	Title string
	Facts []fact
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
	p := &runsPage{Title: cmp.Or(in.Title, "Results"), Cite: cite, Made: runsMade(in.Origin, runsIn(in.Files))}
	for _, f := range in.Files {
		p.Made.Files = append(p.Made.Files, inputFile{shared(f.File), f.SHA256})
		if f.Records != "" {
			p.Made.Files = append(p.Made.Files, inputFile{shared(f.Records), f.RecordsSHA256})
		}
	}
	files, repeats := once(in.Files)
	all, err := settingsOf(files)
	if err != nil {
		return nil, err
	}
	p.Several = len(all) > 1
	for i, s := range all {
		table := newResultTable(s.groups)
		for _, row := range table.Rows {
			p.Rows = append(p.Rows, runRow{row, s.Title, s.config["dataset"], s.config["increment"]})
		}
		p.Repeated = p.Repeated || table.Repeated
		section, err := newRunSection(ctx, s, table)
		if err != nil {
			return nil, err
		}
		section.ID = fmt.Sprintf("s%d", i)
		p.Sections = append(p.Sections, *section)
		p.Params = append(p.Params, paramList{s.Title, s.facts()})
	}
	if err := p.decide(files, all); err != nil {
		return nil, err
	}
	p.Headline, p.Remarks = runsHeadline(files, all), append(remarks(files), repeats...)
	p.Figures = acrossSettings(files, all)
	return p, ctx.Err()
}

// decide fills in what stands on top.
func (p *runsPage) decide(files []RunFile, all []*setting) error {
	runs := runsIn(files)
	var configs []map[string]string
	for _, r := range runs {
		configs = append(configs, settingConfig(r))
	}
	label, method := map[string]string{}, map[string]string{} // of a name in a comparison
	compared := versus.Results(runs)
	for _, s := range all {
		for _, g := range s.groups {
			for _, r := range g.Runs {
				name := compared[slices.Index(runs, r)].Method
				label[name], method[name] = g.Label, g.Method
				p.Methods = appendOnce(p.Methods, methodRow{g.Label, allParams(g.Runs[0])})
			}
		}
	}
	for _, name := range results.Differing(configs...) {
		p.Differ = append(p.Differ, fact{name, tally(configs, name)})
	}
	var err error
	p.Decisions, err = decisions(compared, label)
	var tables []*versus.Table
	for _, d := range p.Decisions {
		tables = append(tables, d.Table)
	}
	p.Cost = costFigure(tables, label, method)
	return err
}

func appendOnce[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// allParams lists the parameters of a run's method, also those that have their usual values.
func allParams(r runPtr) string {
	if values, err := method.Resolve(r.Method, r.Params); err == nil {
		return paramText(values)
	}
	return paramText(r.Params) // of a method that this program does not know
}

// tally says how many runs have each value of a setting.
func tally(configs []map[string]string, name string) string {
	n := map[string]int{}
	for _, c := range configs {
		n[cmp.Or(c[name], "–")]++
	}
	var parts []string
	for _, value := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", value, plural.Of(n[value], "run")))
	}
	return strings.Join(parts, ", ")
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

// runsMade tells what runs were made with; where they differ, all of it.
func runsMade(o Origin, runs []runPtr) made {
	m := o.made()
	each := func(name string, value func(results.Maker) string) {
		var values []string
		for _, r := range runs {
			for _, maker := range r.Measured.Makers() {
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
	for _, r := range runs {
		seconds += r.Measured.TrainSeconds + r.Measured.EvalSeconds
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
		out = append(out, titled("Accuracy and the memory's size", "Look at the distance between the lines at the smallest memories.").of(viz.MemorySize(runs...)))
	}
	if ranked := rankable(files); ranked != nil {
		ranking, err := viz.RankRuns(0.05, ranked...)
		out = append(out, ranksFigure("Ranks of the methods", "Average ranks by A over situations, increments and seeds, the best at the left. "+
			"Runs of one situation are less independent than the test assumes.", ranking, err)...)
	}
	return out
}

func onlyBudgetDiffers(a, b *setting) bool {
	names := results.Differing(a.config, b.config)
	return len(names) == 1 && names[0] == "memory.budget"
}

// rankable returns all runs if there are enough methods for an average of rankings, else nil.
func rankable(files []RunFile) []runPtr {
	methods := map[string]bool{}
	var runs []runPtr
	for _, f := range files {
		methods[f.Run.Method+" "+paramText(f.Run.Params)] = true
		runs = append(runs, f.Run)
	}
	if len(methods) < 5 {
		return nil
	}
	return runs
}
