package findings

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Provenance says where the results of a grid are from.
type Provenance struct {
	Command  string   // that makes them
	Hardware []string // backends and devices
	Programs []string // versions that made them
	// Cells are the runs, each counted once, and Done those with a result. Hours is the time that these took
	// their processes; 0 if it is not known.
	Cells, Done int
	Hours       float64
	Failures    []string // cells and reasons
	Facts       []Fact   // what there is to say of all this but the failures, in the order in which it is shown
}

// Provenance gathers what the grid's rows say about it.
func (g *Grid) Provenance() *Provenance {
	p := &Provenance{Command: g.command()}
	seen := map[string]bool{}
	for _, r := range g.Rows {
		if seen[r.Cell] {
			continue
		}
		seen[r.Cell] = true
		p.Cells++
		switch r.State {
		case rows.Failed:
			p.Failures = append(p.Failures, fmt.Sprintf("%s (%s, %s-incremental, label set %d, timeline %d, seed %d): %s", r.Line(), r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed, r.Reason))
		case rows.Done:
			p.Done++
			p.Hours += took(r) / 3600
			p.Hardware = once(p.Hardware, machine(r))
			p.Programs = once(p.Programs, r.Program)
		}
	}
	p.Facts = p.facts()
	return p
}

func (p *Provenance) facts() []Fact {
	facts := []Fact{
		{"hardware", strings.Join(p.Hardware, "; ")}, {"program", strings.Join(p.Programs, "; ")}, {"runs", fmt.Sprintf("%d of %d", p.Done, p.Cells)},
	}
	if p.Hours > 0 {
		facts = append(facts, Fact{"time", lasted(p.Hours) + " of one process"})
	}
	return facts
}

// lasted writes a time in the unit in which people say it.
func lasted(hours float64) string {
	switch {
	case hours < 1./60:
		return fmt.Sprintf("%.0f seconds", 3600*hours)
	case hours < 2:
		return fmt.Sprintf("%.0f minutes", 60*hours)
	}
	return fmt.Sprintf("%.1f hours", hours)
}

// Fact is a line about where results are from, or what is missing.
type Fact struct{ Name, Value string }

// Missing says of each table of the paper what has no result, and then what the notes say of it. Of users' own grids
// nothing of the paper is missing.
func (f *Findings) Missing() (out []Fact) {
	if f.own() {
		return nil
	}
	for _, table := range paperTables {
		var none, some []string
		for _, at := range placesOf(table) {
			name := at.dataset + ", " + at.increment + "-incremental"
			switch done, planned := f.finished(at); {
			case done == 0:
				none = append(none, name)
			case done < planned:
				some = append(some, fmt.Sprintf("%s (%d of %d)", name, planned-done, planned))
			}
		}
		text := ""
		if len(none)+len(some) == 0 {
			text = "Each column of the paper has a grid with all of its runs. "
		}
		if len(none) > 0 {
			text += "There are no results on " + strings.Join(none, "; ") + ". "
		}
		if len(some) > 0 {
			text += "Runs are missing on " + strings.Join(some, "; ") + ". "
		}
		out = append(out, Fact{table, strings.TrimSpace(text + f.notes[table])})
	}
	return out
}

// finished counts the runs of a place of the paper, and those that have a result: in a column that has all, or else in that with
// the most results.
func (f *Findings) finished(at place) (done, planned int) {
	for _, c := range f.columns(at) {
		own, all := 0, 0
		for _, e := range c.Entries {
			own, all = own+e.Done, all+len(e.Rows)
		}
		if own == all {
			return own, all
		}
		if own >= done {
			done, planned = own, all
		}
	}
	return done, planned
}

// command is what makes the results.
func (g *Grid) command() string {
	file := g.Base
	if _, err := fs.Stat(grids.Files, file+".toml"); err != nil {
		file += ".toml" // of the user's own
	}
	run := fmt.Sprintf("pcl grid run %s --size %s", file, g.Size)
	if g.Tuned {
		run += " --tuned"
	}
	return run + g.backend()
}

// backend is the flags that choose the backend of the results, if it was one.
func (g *Grid) backend() string {
	var backends []string
	threads, avx2 := 0, true
	for _, r := range g.Rows {
		backends, threads = once(backends, r.Backend), max(threads, r.Threads)
		avx2 = avx2 && strings.Contains(r.Device, "AVX2")
	}
	if len(backends) != 1 {
		return ""
	}
	text := " --backend " + backends[0]
	if threads > 1 {
		text += fmt.Sprintf(" --threads %d", threads)
	}
	if avx2 {
		text += " --vectors avx2" // they may be from processors with and without AVX-512
	}
	return text
}

func took(r *rows.Row) float64 {
	if r.Seconds > 0 {
		return r.Seconds
	}
	return r.TrainSeconds + r.EvalSeconds
}

// machine names what computed a run.
func machine(r *rows.Row) string {
	text := r.Backend
	if r.Device != "" {
		text += ", " + r.Device
	}
	if r.Threads > 0 {
		text += ", " + plural.Of(r.Threads, "thread")
	}
	return strings.TrimPrefix(text, ", ")
}

func once(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}
