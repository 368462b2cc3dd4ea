package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// dataFlag is the flag of all commands that read image sets.
type dataFlag struct {
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// options returns the options that package datasets takes.
func (d dataFlag) options() datasets.Options { return datasets.Options{Dir: d.DataDir} }

// machineFlags say on which backend to compute.
type machineFlags struct {
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Compute backend: ${enum}."`
	Threads int    `range:"whole [0,inf)" rare:"" default:"0" help:"Threads of the XLA CPU backend; 0 stands for one, or, for pcl run with a ResNet, one per core."`
	Clients int    `range:"whole [0,inf)" rare:"" default:"0" placeholder:"N" help:"Compute the gradients of N streams at the same time on the XLA CPU backend; the results stay the same. 0 stands for one per core, shared by --jobs, or for one if --threads is set."`
	Vectors string `rare:"" default:"native" enum:"native,avx2" help:"Vector instructions of the XLA CPU backend: native, the widest, or avx2, with which processors with equal caches give the same results."`
	TF32    bool   `rare:"" name:"tf32" help:"Let a GPU round the factors of products to 10 bits: faster, less exact."`
}

// open opens the backend and prints which one it is.
func (m machineFlags) open(rc *runContext) (*backend.Backend, error) {
	b, err := backend.Open(rc.ctx, backend.Options{Name: m.Backend, Threads: m.Threads, Clients: m.Clients,
		Vectors: m.Vectors, TF32: m.TF32, Progress: rc.progress()})
	if err != nil {
		return nil, err
	}
	rc.named.Do(func() { rc.note("Backend %v", b.Info) })
	return b, nil
}

// share gives each of several runs at the same time its part of the cores, unless the flags say
// what each has.
func (m *machineFlags) share(jobs int) {
	if jobs > 1 && m.Clients == 0 && m.Threads == 0 {
		m.Clients = max(1, runtime.GOMAXPROCS(0)/jobs)
	}
}

// machine opens the backend, and data sets in the folder dataDir, when a run needs them.
func (m *machineFlags) machine(rc *runContext, dataDir string) *experiment.Machine {
	return &experiment.Machine{DataDir: dataDir, Progress: rc.progress(),
		Open: func(context.Context) (b *backend.Backend, err error) {
			return m.open(rc)
		}}
}

// ready opens the data set and the backend, and checks that the scenarios fit the data set.
func (m *machineFlags) ready(rc *runContext, machine *experiment.Machine, configs []experiment.Checked,
	jobs int) (*datasets.Dataset, *backend.Backend, error) {
	first := configs[0].Config()
	set, err := machine.Pictures(rc.ctx, first)
	if err != nil {
		return nil, nil, err
	}
	for _, config := range configs {
		if _, err := usage(experiment.NewScenario(config.Config(), set)); err != nil {
			return nil, nil, err
		}
	}
	if set, err = machine.DatasetOf(rc.ctx, first); err != nil { // before the machine's cores are shared
		return nil, nil, err
	}
	m.share(jobs)
	b, err := machine.Backend(rc.ctx)
	return set, b, err
}

// collect makes the runs that are not finished, shows how far they are, and returns the results of
// all in their order. An interrupt waits until the runs in progress have been saved. note is shown
// with the first that is made.
func collect(
	rc *runContext, configs []experiment.Checked, store experiment.Store, schedule experiment.Schedule, note string,
) ([]*results.Run, error) {
	defer rc.hold()()
	begun := make([]bool, len(configs))
	all := newPace(configs)
	end := follow(rc, &schedule, all, func(i int, config experiment.Config) string {
		text := label(i, len(configs), config) + note
		begun[i], note = true, ""
		return text
	})
	defer end()
	runs, stopped := make([]*results.Run, len(configs)), error(nil)
	for e, err := range experiment.Each(rc.ctx, configs, store, schedule) {
		end()
		all.end(e.Index)
		name := label(e.Index, len(configs), configs[e.Index].Config())
		switch {
		case errors.Is(err, experiment.ErrInterrupted): // others may not have been saved, which counts more
			stopped = err
		case err != nil && len(configs) > 1:
			return nil, fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return nil, err
		case !begun[e.Index]:
			rc.note("%s: finished already (%s)", name, filepath.Join(store.Dir, configs[e.Index].Folder(), results.ResultFile))
		}
		runs[e.Index] = e.Run
	}
	return runs, stopped
}

// label is a line above the progress of a run, which is one of several.
func label(i, of int, config experiment.Config) string {
	name := config.Method
	if config.Kind == scenario.Joint {
		name += " on all tasks at once"
	}
	return fmt.Sprintf("[%d/%d] %s, %s-incremental, seed %d", i+1, of, name, config.Increment, config.Seed)
}

// advised adds to an error about runs what helps against it.
func advised(err error) error {
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return fmt.Errorf("%w; %s", err, goOn())
	case errors.Is(err, experiment.ErrForeign):
		return fmt.Errorf("%w (move it elsewhere, make the runs in another folder with --out, or put them in its place "+
			"with pcl run --replace)", err)
	}
	return err
}

// diverged returns an error if some runs ended with a network that no longer learnt.
func diverged(runs []*results.Run) error {
	if n := countDiverged(runs); n > 0 {
		return fmt.Errorf("%d of %d runs diverged; a smaller learning rate (--lr) is the usual remedy", n, len(runs))
	}
	return nil
}

func countDiverged(runs []*results.Run) (n int) {
	for _, r := range runs {
		if r.DivergedAt != nil {
			n++
		}
	}
	return n
}
