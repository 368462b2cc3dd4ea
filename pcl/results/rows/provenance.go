package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Provenance says where the results of a grid are from.
type Provenance struct {
	Hardware []string // backends and devices
	Programs []string // versions that made them
	// Cells are the runs, each counted once, and Done those with a result. Hours is the time that
	// these took their processes; 0 if it is not known.
	Cells, Done int
	Hours       float64
	Failures    []string // cells and reasons
	Facts       []Fact   // what there is to say of all this but the failures, in the order in which it is shown
}

// Provenance gathers what the table's rows say about it.
func (t *Table) Provenance() *Provenance {
	p := new(Provenance)
	seen := map[string]bool{}
	for _, r := range t.Rows {
		if seen[r.Cell] {
			continue
		}
		seen[r.Cell] = true
		p.Cells++
		switch r.State {
		case Failed:
			p.Failures = append(p.Failures, fmt.Sprintf("%s (%s, label set %d, timeline %d, seed %d): %s",
				r.Line(), r.Benchmark(), r.LabelSet, r.Timeline, r.Seed, r.Reason))
		case Done:
			p.Done++
			p.Hours += r.Took() / 3600
			p.Hardware = once(p.Hardware, machine(r.Run.Measured.Maker))
			p.Programs = once(p.Programs, r.Program)
		}
	}
	p.Facts = p.facts()
	return p
}

func (p *Provenance) facts() []Fact {
	facts := []Fact{
		{"hardware", strings.Join(p.Hardware, "; ")},
		{"program", strings.Join(p.Programs, "; ")},
		{"runs", fmt.Sprintf("%d of %d", p.Done, p.Cells)},
	}
	if p.Hours > 0 {
		facts = append(facts, Fact{"time", plural.Time(3600*p.Hours) + " of one process"})
	}
	return facts
}

// Fact is a line about where results are from, or what is missing.
type Fact struct{ Name, Value string }

// Backend returns the flags that choose the backend of the results, if it was one.
func (t *Table) Backend() string {
	var backends []string
	threads, avx2 := 0, true
	for _, r := range t.Rows {
		var m results.Measured
		if r.Run != nil {
			m = r.Run.Measured
		}
		backends, threads = once(backends, m.Backend), max(threads, m.Threads)
		avx2 = avx2 && strings.Contains(m.Device, "AVX2")
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

// machine names what computed a run.
func machine(m results.Maker) string {
	text := m.Backend
	if m.Device != "" {
		text += ", " + m.Device
	}
	if m.Threads > 0 {
		text += ", " + plural.Of(m.Threads, "thread")
	}
	return strings.TrimPrefix(text, ", ")
}

func once(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}
