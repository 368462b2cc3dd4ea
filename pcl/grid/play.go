package grid

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// ErrStop ends [Grid.Play] early, without an error.
var ErrStop = errors.New("grid: stop")

// Play makes the run of a configuration with a learner of its own, which after each step is handed to
// the caller: to measure, to draw, to keep what no result file holds. Nothing is written. The
// parameters are those of pcl.Run, to the bit; the learner is closed when Play returns.
func (g *Grid) Play(ctx context.Context, c pcl.Config, after func(*pcl.Learner, *pcl.StepReport) error) error {
	if err := g.open(ctx); err != nil {
		return err
	}
	s, err := pcl.NewScenario(c, g.set)
	if err != nil {
		return err
	}
	l, err := g.learner(c, outputs(s, g.set))
	if err != nil {
		return err
	}
	defer l.Close()
	for attached := 0; l.Steps() <= s.LastStep(); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for ; attached < len(s.Tasks) && s.Tasks[attached].Start == l.Steps(); attached++ {
			t, err := g.Task(ctx, c, attached+1, s.Tasks[attached].Classes...)
			if err != nil {
				return err
			}
			if _, err := l.Attach(t); err != nil {
				return err
			}
		}
		r, err := l.Step()
		if err != nil {
			return err
		}
		if err := after(l, r); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Learner returns a learner of a configuration for the grid's data set, with an output for each of its
// classes and no task yet. Of the configuration's scenario it knows nothing.
func (g *Grid) Learner(ctx context.Context, c pcl.Config) (*pcl.Learner, error) {
	if err := g.open(ctx); err != nil {
		return nil, err
	}
	return g.learner(c, len(g.set.Classes))
}

func (g *Grid) learner(c pcl.Config, outputs int) (*pcl.Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m, err := method.New(c.Method, c.Params)
	if err != nil {
		return nil, err
	}
	net, err := network(c, g.set, outputs)
	if err != nil {
		return nil, err
	}
	return pcl.NewLearner(pcl.Options{
		Backend: g.backend.Backend, Programs: g.programs, Model: net, Method: m,
		Increment: c.Increment, Params: c.Shared, Optimizer: c.Optimizer, Batch: c.Batch,
		Memory: c.Memory, Seed: c.Seed, Edit: c.Edit, ExtraUpdate: c.ExtraUpdate,
		Image: pcl.Image{Height: g.set.Height, Width: g.set.Width, Channels: g.set.Channels},
	})
}

func network(c pcl.Config, d *datasets.Dataset, outputs int) (model.Model, error) {
	if c.Model == "resnet18" {
		return model.NewResNet18(model.ResNetConfig{
			Height: d.Height, Width: d.Width, Channels: d.Channels, Base: c.Width, Outputs: outputs, Release: c.Release,
		})
	}
	return model.NewMLP(d.ImageSize(), c.Hidden, outputs)
}

// outputs is the number of classifier outputs that a scenario needs.
func outputs(s *scenario.Scenario, d *datasets.Dataset) int {
	if s.Increment == scenario.ClassIncremental {
		return len(d.Classes)
	}
	n := 0
	for _, t := range s.Tasks {
		n += len(t.Classes)
	}
	return n
}

// Task returns the training and test images of some classes, ready to be attached to a learner of the
// configuration as its task id (from 1, by arrival).
func (g *Grid) Task(ctx context.Context, c pcl.Config, id int, classes ...int) (pcl.Task, error) {
	set, err := g.Dataset(ctx)
	if err != nil {
		return pcl.Task{}, err
	}
	stream, err := pcl.NewStream(Images(set, &set.Train, c.TrainPerClass, classes...), c.Epochs, c.Seed, id)
	if err != nil {
		return pcl.Task{}, fmt.Errorf("task %d, classes %v: %w", id, classes, err)
	}
	return pcl.Task{Name: fmt.Sprintf("task %d", id), Classes: classes, Stream: stream, Test: Images(set, &set.Test, 0, classes...)}, nil
}

// Images returns the images of some classes of a split, class by class, at most limit of each; 0 is no
// limit.
func Images(set *datasets.Dataset, split *datasets.Split, limit int, classes ...int) pcl.Samples {
	s := &images{set: set, split: split}
	for _, c := range classes {
		n := 0
		for i, label := range split.Labels {
			if int(label) == c && (limit == 0 || n < limit) {
				s.indices = append(s.indices, i)
				n++
			}
		}
	}
	return s
}

type images struct {
	set     *datasets.Dataset
	split   *datasets.Split
	indices []int
}

func (s *images) Len() int { return len(s.indices) }

func (s *images) Sample(i int, x []float32) (class int) {
	at := s.indices[i]
	for p, v := range s.set.Image(s.split, at) {
		x[p] = float32(v) / 255
	}
	return int(s.split.Labels[at])
}

// Record is a step as the record file of a run has it. Unlike the report it stays valid.
func Record(s *pcl.StepReport) results.Record {
	r := results.Record{
		Step: s.Step, IDs: slices.Clone(s.IDs), Losses: slices.Clone(s.Losses), Gram: slices.Clone(s.Gram),
		Weights: slices.Clone(s.Weights), NormD: s.NormD,
	}
	if e := s.Edit; e != nil {
		r.Edit = &results.Edit{Samples: len(e.Indices), Phi: e.Phi, Change: e.Change}
	}
	if c := s.Outcome.Certificate; c != nil {
		c = c.Clone()
		r.Sigma, r.Lambda, r.Slacks, r.Gap, r.Status = c.Sigma, c.Lambda, c.Slacks, c.Gap, c.Status.String()
	}
	return r
}
