package experiment

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestGapsInTheTimeline compares a serial run with one whose tasks come later than they could:
// nothing happens in the gaps, so it has the same model, at other steps. It is then interrupted and
// resumed, also in a gap.
func TestGapsInTheTimeline(t *testing.T) {
	m, c := onBlobs(t), blobConfig("emgd-gmc")
	c.Kind, c.EvalEvery = "serial", 0
	dense := must.Get(made(t.Context(), c, work{Schedule: Schedule{Machine: m}}))(t)
	s := must.Get(NewScenario(c, m.set))(t)
	gap := []int{3, 10, 14} // steps that each task comes later
	later := *s
	later.Tasks = append([]scenario.Task{}, s.Tasks...)
	for i := range later.Tasks {
		later.Tasks[i].Start += gap[i]
	}
	c.UseScenario(&later)
	run := func(dir string) (result, records []byte) {
		r := must.Get(made(t.Context(), c, work{Store: Store{Dir: dir, Record: true}, Schedule: Schedule{Machine: m}}))(t)
		switch {
		case r.ModelSHA256 != dense.ModelSHA256:
			t.Fatalf("%d of %d steps, another model: r.ModelSHA256 is %q; want %q", r.Steps, r.Span(), r.ModelSHA256,
				dense.ModelSHA256)
		case r.Steps != dense.Steps:
			t.Fatalf("%d of %d steps, another model: r.Steps is %d; want %d", r.Steps, r.Span(), r.Steps, dense.Steps)
		case r.Span() != dense.Steps+14:
			t.Fatalf("%d of %d steps, another model: r.Span() is %d; want %d", r.Steps, r.Span(), r.Span(), dense.Steps+14)
		}
		for i, p := range r.Curve {
			if p.Step != dense.Curve[i].Step+gap[i] || p.Mean != dense.Curve[i].Mean {
				t.Errorf("evaluation %d is %v at step %d; without gaps %v at %d", i, p.Mean, p.Step, dense.Curve[i].Mean,
					dense.Curve[i].Step)
			}
		}
		return outcome(t, r, dir)
	}
	result, records := run(t.TempDir())
	for _, after := range []int{1, s.Tasks[1].Start, s.Tasks[1].Start + 1} {
		dir := t.TempDir()
		ctx, stop := context.WithCancel(t.Context())
		_, err := made(ctx, c, work{Store: Store{Dir: dir, Record: true},
			Schedule: Schedule{Machine: m, OnProgress: func(_ int, p Progress) {
				if p.Step == after {
					stop()
				}
				if p.Steps != dense.Steps {
					t.Errorf("progress counts to %d, want %d", p.Steps, dense.Steps)
				}
			}}})
		if stop(); !errors.Is(err, ErrInterrupted) {
			t.Fatal(expect.Text(err))
		}
		result2, records2 := run(dir)
		if !bytes.Equal(result, result2) || !bytes.Equal(records, records2) {
			t.Errorf("interrupted after %d updates, the resumed run is another one", after)
		}
	}
}

// TestOneTimelineInBothIncrements: a scenario that was written by hand leaves out what the
// configuration says.
func TestOneTimelineInBothIncrements(t *testing.T) {
	dir := t.TempDir()
	text := `{"schema": 1, "tasks": [{"classes": [0, 1]}, {"classes": [2, 3], "start": 4}, {"classes": [4, 5], "start": 90}]}`
	must.Do(t, os.WriteFile(filepath.Join(dir, "s.json"), []byte(text), 0o666))
	for _, increment := range []string{"task", "class"} {
		t.Run(increment, func(t *testing.T) {
			c := must.Get(parseIn(dir, "scenario = \"s.json\"\ndataset = \"blobs\"\nbatch = 8\nincrement = \""+increment+
				"\"\nhidden = [16, 8]\n"))(t)
			r := must.Get(made(t.Context(), c, work{Schedule: Schedule{Machine: onBlobs(t)}}))(t)
			switch {
			case r.Increment != increment:
				t.Errorf("r.Increment is %q; want %q", r.Increment, increment)
			case len(r.Tasks) != 3:
				t.Errorf("len(r.Tasks) is %d; want 3", len(r.Tasks))
			case r.Tasks[2].Start != 90:
				t.Errorf("r.Tasks[2].Start is %d; want 90", r.Tasks[2].Start)
			case r.Tasks[0].Train != 80:
				t.Errorf("r.Tasks[0].Train is %d; want 80", r.Tasks[0].Train)
			case r.Steps != 24:
				t.Errorf("r.Steps is %d; want 24", r.Steps)
			case r.A < 50:
				t.Errorf("r.A is %g; want at least 50", r.A)
			}
		})
	}
	for _, key := range []string{"labelset = 1", "timeline = 1", "kind = \"serial\"", "tasks = 3", "min_classes = 2",
		"max_classes = 2", "overlap = 1", "duplicate = true"} {
		t.Run(key, func(t *testing.T) {
			if _, err := parseIn(dir, "scenario = \"s.json\"\ndataset = \"blobs\"\n"+key+"\n"); err == nil {
				t.Errorf("%s beside a scenario: %v", key, expect.Text(err))
			}
		})
	}
	sized := filepath.Join(dir, "sized.json")
	must.Do(t, os.WriteFile(sized,
		[]byte(strings.Replace(text, `"schema": 1,`, `"schema": 1, "batch": 8, "epochs": 1,`, 1)), 0o666))
	for key, want := range map[string]string{"batch = 16": "batch is 16", "epochs = 2": "epochs is 2", "batch = 8": ""} {
		t.Run(key, func(t *testing.T) {
			_, err := parseIn(dir, "scenario = \"sized.json\"\ndataset = \"blobs\"\n"+key+"\n")
			if want == "" && err != nil || want != "" && err == nil {
				t.Errorf("%s beside a scenario that says another: %v", key, err)
			}
		})
	}
	// A file that names an increment is played in the other one if that is asked for.
	c := blobConfig("er")
	c.UseScenario(&scenario.Scenario{Schema: 1, Increment: "task", Tasks: []scenario.Task{{Classes: []int{0}}}})
	if other := c.withIncrement("class"); other.Scenario.Increment != "class" || c.Scenario.Increment != "task" {
		t.Error("the increment of the scenario is not the one that was asked for")
	}
	must.Do(t, wrong(c))
	for want, change := range map[string]func(*Config){
		"labelset is 7":      func(c *Config) { c.LabelSet = 7 },
		"timeline is 7":      func(c *Config) { c.Timeline = 7 },
		"tasks is 2":         func(c *Config) { c.Tasks = 2 },
		"overlap is 1":       func(c *Config) { c.MinClasses, c.MaxClasses, c.Overlap = 2, 2, 1 },
		"increment is class": func(c *Config) { c.Increment = "class" },
		"kind is serial": func(c *Config) {
			c.Kind, c.Scenario = "serial", &scenario.Scenario{Schema: 1, Kind: "parallel", Tasks: c.Scenario.Tasks}
		},
		"batch is 9": func(c *Config) {
			c.Batch, c.Scenario = 9, &scenario.Scenario{Schema: 1, Batch: 8, Tasks: c.Scenario.Tasks}
		},
	} {
		t.Run(want, func(t *testing.T) {
			other := c
			if change(&other); wrong(other) == nil {
				t.Errorf("no error; want one about %q", want)
			}
		})
	}
}
