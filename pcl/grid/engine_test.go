package grid

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// tinyRuns is a grid of real runs, of a few steps each.
func tinyRuns(t *testing.T) *Grid {
	return parse(t, "tiny", `
		title = "Real runs"
		datasets = ["G"]
		methods = ["AvgGrad"]
		increments = ["task"]
		labelsets = [0]
		timelines = [0]
		seeds = [1, 2]
		[set]
		train_per_class = 4
		batch = 8
		hidden = [8]
		[dataset.G]
		dataset = "glyphs"
		[method.AvgGrad]
		method = "avggrad"
	`)
}

// TestEngine makes real runs: undisturbed, and interrupted with the newest, or every, checkpoint damaged afterwards.
// All have the same result.
func TestEngine(t *testing.T) {
	f, m := planned(t, tinyRuns(t))
	var said []string
	engine := NewEngine(EngineOptions{Compute: m.Compute, CheckpointEvery: 2, Say: func(s string) { said = append(said, s) }})
	defer engine.Close()
	if s := work(t, f, m, engine, WorkOptions{}); s.Done != 2 {
		t.Fatalf("%+v", s)
	}
	first, err := f.Collect(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	want := first.Runs[m.Cells[0].ID]
	if want.Steps < 10 || first.Runs[m.Cells[1].ID].Measured.Compilations > want.Measured.Compilations {
		t.Errorf("%d steps; the second run compiled %d programs, the first %d", want.Steps, first.Runs[m.Cells[1].ID].Measured.Compilations, want.Measured.Compilations)
	}
	for _, c := range []struct {
		damaged int // how many of the newest checkpoints
		said    string
	}{{0, ""}, {1, "The run goes on from"}, {2, "The run starts again"}} {
		f, m := planned(t, tinyRuns(t))
		ctx, cancel := context.WithCancel(context.Background())
		_, err := f.Work(ctx, m, engine, WorkOptions{Shard: Shard{0, 2}, Progress: func(_ Cell, p experiment.Progress) {
			if p.Step == 7 {
				cancel()
			}
		}})
		if !errors.Is(err, experiment.ErrInterrupted) {
			t.Fatal(err)
		}
		saved, err := filepath.Glob(filepath.Join(f.work(m.Cells[0].ID), "checkpoint-*.pcl"))
		if err != nil || len(saved) != 2 {
			t.Fatalf("checkpoints %v (%v), want two", saved, err)
		}
		slices.Reverse(saved)
		for _, path := range saved[:c.damaged] {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		}
		said = nil
		work(t, f, m, engine, WorkOptions{Shard: Shard{0, 2}})
		if got := strings.Join(said, "\n"); !strings.Contains(got, c.said) || (got == "") != (c.said == "") {
			t.Errorf("%d damaged checkpoints: said %q, want %q", c.damaged, got, c.said)
		}
		r, err := f.Collect(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Runs[m.Cells[0].ID]; got == nil || !same(got, want) {
			t.Errorf("%d damaged checkpoints: the result is %+v", c.damaged, got)
		}
	}
}

// TestEngineKeepsFiles: a run that starts again, in a folder that holds other files too, leaves these alone.
func TestEngineKeepsFiles(t *testing.T) {
	_, m := planned(t, tinyRuns(t))
	engine := NewEngine(EngineOptions{Compute: m.Compute})
	defer engine.Close()
	dir := t.TempDir()
	note := filepath.Join(dir, "note.txt")
	if err := os.WriteFile(note, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := engine.Make(ctx, m.Cells[0].Config, dir, func(experiment.Progress) { cancel() })
	saved, _ := filepath.Glob(filepath.Join(dir, "checkpoint-*.pcl"))
	if !errors.Is(err, experiment.ErrInterrupted) || len(saved) != 1 {
		t.Fatalf("%v; saved %v", err, saved)
	}
	if err := os.Truncate(saved[0], 100); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Make(t.Context(), m.Cells[0].Config, dir, func(experiment.Progress) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
}

// TestTrainedNetwork makes a grid whose runs begin with a trained network. Without its file a machine cannot make them,
// which is no failure of theirs.
func TestTrainedNetwork(t *testing.T) {
	_, m := planned(t, tinyRuns(t))
	engine := NewEngine(EngineOptions{Compute: m.Compute})
	defer engine.Close()
	c := m.Cells[0].Config
	if err := engine.open(t.Context(), c.Dataset); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := experiment.RunOptions{Backend: engine.backend, Programs: engine.programs, Dataset: engine.set, Dir: dir, Weights: true}
	if _, err := experiment.Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	net := filepath.Join(dir, experiment.WeightsFile)
	g := tinyRuns(t)
	g.Set["init"] = net
	f, m := planned(t, g)
	moved := filepath.Join(dir, "moved.safetensors")
	if err := os.Rename(net, moved); err != nil {
		t.Fatal(err)
	}
	if s, err := f.Work(t.Context(), m, engine, WorkOptions{}); !errors.Is(err, experiment.ErrInit) || s.Failed != 0 || s.Left != 2 {
		t.Errorf("without the file: %+v, %v", s, err)
	}
	if err := os.Rename(moved, net); err != nil {
		t.Fatal(err)
	}
	read, err := f.Manifest(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	if s := work(t, f, read, engine, WorkOptions{}); s.Done != 2 {
		t.Errorf("%+v", s)
	}
}

// TestEngineElsewhere has what a machine may lack: that is no failure of a cell.
func TestEngineElsewhere(t *testing.T) {
	g := tinyRuns(t)
	g.Dataset["G"]["dataset"] = "cifar-100"
	g.Dataset["G"]["model"], g.Set["hidden"] = "resnet18", []int64{}
	f, m := planned(t, g)
	engine := NewEngine(EngineOptions{Compute: m.Compute, DataDir: t.TempDir()})
	defer engine.Close()
	s, err := f.Work(context.Background(), m, engine, WorkOptions{})
	if err == nil || !strings.Contains(err.Error(), "cells on cifar-100") || s.Failed != 0 || s.Left != 2 {
		t.Errorf("without the data set: %+v, %v", s, err)
	}
	broken := NewEngine(EngineOptions{Compute: Compute{Backend: "none"}})
	defer broken.Close()
	if s, err := f.Work(context.Background(), m, broken, WorkOptions{}); err == nil || s.Failed != 0 || s.Left != 2 {
		t.Errorf("without the backend: %+v, %v", s, err)
	}
}
