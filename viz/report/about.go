package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// about says how to get the same again.
type about struct {
	Command string
	Facts   []fact
	Config  string // of the first run
	Runs    []aboutRun
}

type fact struct{ Name, Value string }

type aboutRun struct {
	ID, Label, Params, Seed, Model, Memory string
	A                                      string
}

func newAbout(in *DemoInput) about {
	r := in.Runs[0]
	m := r.Measured
	a := about{Command: in.Command}
	add := func(name, value string) {
		if value != "" {
			a.Facts = append(a.Facts, fact{name, value})
		}
	}
	or := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	add("data set", r.Dataset+", "+r.Increment+"-incremental")
	add("label set, timeline", fmt.Sprintf("seeds %d, %d", r.LabelSet, r.Timeline))
	add("version", strings.TrimSpace(or(in.Version, m.Version)+" "+m.Commit))
	add("Go", m.GoVersion)
	add("backend", or(in.Backend, m.Backend))
	add("device", m.Device)
	if m.Threads > 0 {
		add("threads", fmt.Sprint(m.Threads))
	}
	if m.PeakRSS > 0 {
		add("peak memory", fmt.Sprintf("%.0f MiB", float64(m.PeakRSS)/(1<<20)))
	}
	seconds := 0.0
	for _, r := range in.Runs {
		seconds += r.Measured.TrainSeconds + r.Measured.EvalSeconds
	}
	if seconds > 0 {
		add("training and evaluation", fmt.Sprintf("%.1f s, all runs together", seconds))
	}
	if !m.Finished.IsZero() {
		add("finished", m.Finished.UTC().Format("2006-01-02 15:04 UTC"))
	}
	var config bytes.Buffer
	if len(r.Config) > 0 && json.Indent(&config, r.Config, "", "  ") == nil {
		a.Config = config.String()
	}
	for _, r := range in.Runs {
		a.Runs = append(a.Runs, aboutRun{
			ID: r.ID, Label: or(r.MethodTitle, r.Method), Params: paramText(r.Params), Seed: fmt.Sprint(r.Seed),
			A: fmt.Sprintf("%.2f", r.A), Model: r.ModelSHA256, Memory: r.MemorySHA256,
		})
	}
	return a
}
