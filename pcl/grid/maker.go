package grid

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Maker makes the runs of cells, one at a time. [Engine] is the one that trains.
type Maker interface {
	// Make makes a run in the folder dir, or goes on with it if it was begun there. It calls progress after each
	// step. When ctx is cancelled it saves the run and returns [experiment.ErrInterrupted]. If the data set is not here, or
	// is another one, it returns [ErrNoData] or [experiment.ErrData]: the cell is then left, and has not failed.
	Make(ctx context.Context, c experiment.Config, dir string, progress func(experiment.Progress)) (*results.Run, error)
}

// EngineOptions say how an [Engine] computes.
type EngineOptions struct {
	Compute         Compute               // of the manifest
	Clients         int                   // how many streams' gradients the XLA CPU backend computes at the same time; 0 stands for one
	DataDir         string                // folder of the data sets; empty stands for datasets.DefaultDir
	CheckpointEvery int                   // steps between checkpoints; 0 saves only when a run is interrupted
	Progress        io.Writer             // receives notices about the installation of a backend; nil means silence
	Say             func(sentence string) // is told what is wrong with the files of a run; may be nil
}

// Engine makes runs with [experiment.Run]. All of them share one backend and the programs that were compiled for it,
// and runs on one data set that follow each other share that.
type Engine struct {
	options  EngineOptions
	backend  *backend.Backend
	programs *pcl.Programs
	set      *datasets.Dataset
}

// NewEngine returns an engine, which opens its backend when it makes the first run. Close it when it is no longer
// needed.
func NewEngine(o EngineOptions) *Engine {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return &Engine{options: o}
}

// Close releases the backend and the compiled programs.
func (e *Engine) Close() error {
	if e.programs != nil {
		e.programs.Close()
	}
	err := e.backend.Close()
	e.backend, e.programs = nil, nil
	return err
}

// Make implements [Maker].
func (e *Engine) Make(ctx context.Context, c experiment.Config, dir string, progress func(experiment.Progress)) (*results.Run, error) {
	if err := e.open(ctx, c.Dataset); err != nil {
		if ctx.Err() != nil {
			err = experiment.ErrInterrupted
		}
		return nil, err
	}
	if c.DataSHA256 != e.set.SHA256 {
		return nil, &surroundingsError{fmt.Errorf("%w since the grid was planned: plan it again, with --data-dir or $%s", experiment.ErrData, datasets.EnvDir), c.Dataset}
	}
	o := experiment.RunOptions{
		Backend: e.backend, Programs: e.programs, Dataset: e.set, Dir: dir, Resume: true,
		CheckpointEvery: e.options.CheckpointEvery, Keep: 2, Progress: progress,
	}
	run, err := experiment.Run(ctx, c, o)
	if errors.Is(err, experiment.ErrInit) {
		return nil, &surroundingsError{err, ""}
	}
	damaged := new(experiment.DamagedError)
	switch {
	case errors.As(err, &damaged) && damaged.Whole != "":
		e.options.Say(fmt.Sprintf("%v. The run goes on from %s.", err, damaged.Whole))
		o.Checkpoint = damaged.Whole
	case errors.Is(err, experiment.ErrForeign):
		e.options.Say(fmt.Sprintf("%v. The run starts again.", err))
		o.Replace = true
	case errors.As(err, &damaged):
		e.options.Say(fmt.Sprintf("%v. The run starts again.", err))
		if err := experiment.Discard(dir); err != nil {
			return nil, err
		}
	default:
		return run, err
	}
	return experiment.Run(ctx, c, o)
}

// open opens the backend and a data set, unless they are open.
func (e *Engine) open(ctx context.Context, dataset string) (err error) {
	if e.backend == nil {
		how := e.options.Compute
		if err := how.settled(); err != nil {
			return &surroundingsError{err, ""}
		}
		e.backend, err = backend.Open(ctx, backend.Options{
			Name: how.Backend, Threads: how.Threads, TF32: how.TF32, Clients: e.options.Clients, Progress: e.options.Progress,
		})
		if err != nil {
			return &surroundingsError{err, ""}
		}
		e.programs = pcl.NewPrograms(e.backend)
	}
	if e.set == nil || e.set.Name != dataset {
		e.set = nil // so that two are never in memory, here or on the device
		e.programs.ForgetData()
		if e.set, err = datasets.Open(ctx, dataset, datasets.Options{Dir: e.options.DataDir}); err != nil {
			return &surroundingsError{err, dataset}
		}
	}
	return nil
}

// surroundingsError is an error of the machine and not of a cell, which can be made elsewhere.
type surroundingsError struct {
	err     error
	dataset string // that is missing; empty if the machine cannot make any cell
}

func (e *surroundingsError) Error() string {
	if e.dataset != "" {
		return fmt.Sprintf("this machine cannot make cells on %s: %v", e.dataset, e.err)
	}
	return fmt.Sprintf("this machine cannot make cells: %v", e.err)
}
func (e *surroundingsError) Unwrap() error { return e.err }

// ErrNoData is what [Folder.Work] returns if cells are left because their data set is not here, or is another one.
var ErrNoData = errors.New("a data set is missing")

func (e *surroundingsError) Is(target error) bool { return target == ErrNoData && e.dataset != "" }
