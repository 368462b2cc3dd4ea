package experiment

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Machine is what runs share: a backend, the programs that were compiled for it, and one data set at a time. It opens
// each of them when a run first needs it, and so never if all runs are finished.
type Machine struct {
	Open    func(context.Context) (*backend.Backend, error) // opens the backend
	DataDir string                                          // folder of the data sets; empty stands for datasets.DefaultDir

	backend  *backend.Backend
	programs *pcl.Programs
	latest   *latestSet
}

// latestSet is the data set that one of several machines has opened last, so that the others need not read it too.
type latestSet struct {
	mu  sync.Mutex
	set *datasets.Dataset
}

// several returns as many machines, of which the first is this one.
func (m *Machine) several(n int) []*Machine {
	m.share()
	all := []*Machine{m}
	for len(all) < n {
		all = append(all, &Machine{Open: m.Open, DataDir: m.DataDir, latest: m.latest})
	}
	return all
}

func (m *Machine) share() {
	if m.latest == nil {
		m.latest = new(latestSet)
	}
}

// Close closes the backend and releases the compiled programs.
func (m *Machine) Close() error {
	if m.programs != nil {
		m.programs.Close()
	}
	err := m.backend.Close()
	m.backend, m.programs = nil, nil
	return err
}

// Backend returns the backend, and opens it if necessary. The machine closes it.
func (m *Machine) Backend(ctx context.Context) (*backend.Backend, error) {
	if m.backend != nil {
		return m.backend, nil
	}
	b, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	m.backend, m.programs = b, pcl.NewPrograms(b)
	return b, nil
}

// Dataset returns the data set of the given name, and opens it if necessary. It forgets the one before, so that two are
// in memory only while runs on both are made.
func (m *Machine) Dataset(ctx context.Context, name string) (*datasets.Dataset, error) {
	m.share()
	m.latest.mu.Lock()
	defer m.latest.mu.Unlock()
	if set := m.latest.set; set != nil && set.Name == name {
		return set, nil
	}
	m.latest.set = nil
	set, err := datasets.Open(ctx, name, datasets.Options{Dir: m.DataDir})
	if err == nil {
		m.latest.set = set
	}
	return set, err
}

// ready opens the data set and the backend, which a run with these options needs.
func (m *Machine) ready(ctx context.Context, dataset string, o *RunOptions) error {
	set, err := m.Dataset(ctx, dataset)
	if err != nil {
		return &MachineError{dataset, err}
	}
	if _, err := m.Backend(ctx); err != nil {
		return &MachineError{"", err}
	}
	o.Backend, o.Programs, o.Dataset = m.backend, m.programs, set
	return nil
}

// MachineError says that this machine cannot make the runs, through no fault of theirs.
type MachineError struct {
	Dataset string // on which runs cannot be made, as it is missing or another one; empty if none can be made
	Err     error
}

func (e *MachineError) Error() string {
	if e.Dataset != "" {
		return fmt.Sprintf("this machine cannot make runs on %s: %v", e.Dataset, e.Err)
	}
	return fmt.Sprintf("this machine cannot make runs: %v", e.Err)
}

func (e *MachineError) Unwrap() error { return e.Err }
