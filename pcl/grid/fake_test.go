package grid

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// fake makes runs as experiment.Run does, except that it does not train: it sleeps, saves the step that it has come
// to when it is interrupted, and leaves a result that follows from the configuration.
type fake struct {
	steps int           // of each run
	step  time.Duration // that a step takes
	save  int           // steps between checkpoints; 0 saves only when interrupted
	// fail, if set, may return an error instead of a step.
	fail func(c experiment.Config, step int) error

	mu    sync.Mutex
	begun map[string][]int // the steps at which runs were begun, by seed
}

func (f *fake) Make(ctx context.Context, c experiment.Config, dir string, progress func(experiment.Progress)) (*results.Run, error) {
	if r, err := experiment.Finished(dir, c); r != nil || err != nil {
		return r, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	first := savedStep(dir)
	f.note(c, first)
	for step := first; step < f.steps; step++ {
		if ctx.Err() != nil {
			return nil, errors.Join(f.saveStep(dir, step), experiment.ErrInterrupted)
		}
		if f.fail != nil {
			if err := f.fail(c, step); err != nil {
				return nil, err
			}
		}
		time.Sleep(f.step)
		if f.save > 0 && (step+1)%f.save == 0 {
			if err := f.saveStep(dir, step+1); err != nil {
				return nil, err
			}
		}
		progress(experiment.Progress{Step: step + 1, Steps: f.steps})
	}
	r := fakeResult(c, f.steps)
	return r, r.Save(filepath.Join(dir, experiment.ResultFile))
}

func (f *fake) saveStep(dir string, step int) error {
	return checkpoint.Series{Dir: dir, Keep: 1}.Save(step, checkpoint.File{State: json.RawMessage("0")})
}

func (f *fake) note(c experiment.Config, step int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun == nil {
		f.begun = map[string][]int{}
	}
	f.begun[c.ID()] = append(f.begun[c.ID()], step)
}

// fakeResult is a result of a configuration.
func fakeResult(c experiment.Config, steps int) *results.Run {
	config, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	program, err := origin.Program()
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(config)
	a := float64(sum[0]) / 256
	return &results.Run{
		Schema: results.Schema, ID: c.ID(), Method: c.Method, Dataset: c.Dataset, Increment: string(c.Increment),
		LabelSet: c.LabelSet, Timeline: c.Timeline, Seed: c.Seed, Config: config, Steps: steps,
		Tasks: []results.Task{{ID: 1, Classes: []int{0}, End: steps - 1, AccEnd: a, AccFinal: a}},
		A:     100 * a, AFirst: 100 * a,
		Curve:       []results.Point{{Step: steps - 1, Ended: []int{1}, Acc: []*float64{&a}, Mean: a}},
		ModelSHA256: fmt.Sprintf("%x", sum),
		Measured:    results.Measured{TrainSeconds: float64(steps) / 1000, Maker: results.Maker{Backend: "go", Program: program}},
	}
}

// small is a grid of 2 methods × 2 increments × seeds.
func small(t testing.TB, seeds int) *Grid {
	t.Helper()
	var list []string
	for i := range seeds {
		list = append(list, fmt.Sprint(i+1))
	}
	return parse(t, "small", fmt.Sprintf(`
		title = "A small grid"
		datasets = ["G"]
		methods = ["AvgGrad", "MGDA"]
		increments = ["task", "class"]
		labelsets = [0]
		timelines = [0]
		seeds = [%s]
		[dataset.G]
		dataset = "glyphs"
		[method.AvgGrad]
		method = "avggrad"
		[method.MGDA]
		method = "mgda"
	`, strings.Join(list, ",")))
}

// parse writes a grid to a file and reads it.
func parse(t testing.TB, name, text string) *Grid {
	t.Helper()
	g, err := Load(write(t, name, text), Full)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// planned plans a grid in a new folder.
func planned(t testing.TB, g *Grid) (Folder, *Manifest) {
	t.Helper()
	f := Folder{t.TempDir()}
	m, err := f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}})
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// complete checks that a grid is finished, and that every cell has one result, its own.
func complete(t testing.TB, f Folder, m *Manifest, steps int) *Results {
	t.Helper()
	r, err := f.Collect(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Cells {
		run := r.Runs[c.ID]
		if run == nil {
			t.Errorf("cell %s (%s) has no result", c.ID, c.Name())
		} else if want := fakeResult(c.Config, steps); !same(run, want) {
			t.Errorf("cell %s (%s) has another cell's result", c.ID, c.Name())
		}
	}
	for _, n := range r.Notes {
		if strings.Contains(n, "twice") || strings.Contains(n, "two results") {
			t.Error(n)
		}
	}
	if held, err := os.ReadDir(f.path(leaseDir)); err == nil && len(held) > 0 {
		t.Errorf("leases are left: %v", held)
	}
	if begun, err := os.ReadDir(f.path(workDir)); err == nil && len(begun) > 0 {
		t.Errorf("folders of cells are left: %v", begun)
	}
	return r
}
