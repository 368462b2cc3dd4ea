package experiment

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Machine is what runs share: a backend, the programs that were compiled for it, and one data set
// at a time. It opens each of them when a run first needs it, and so never if all runs are
// finished.
type Machine struct {
	Open    func(context.Context) (*backend.Backend, error) // opens the backend
	DataDir string                                          // folder of the data sets; see datasets.Options
	// Progress is told how far features are that are being computed; nil for silence.
	Progress io.Writer

	backend  *backend.Backend
	programs *pcl.Programs
	first    *Machine // of several, which opens data sets for all of them; nil if this one does
	opening  sync.Mutex
	set      *datasets.Dataset // that was opened last
	side     int               // see datasets.Options
	opened   func(*datasets.Dataset)
	features *datasets.Dataset // that were opened last
	wanted   wanted            // what they are
}

// several returns as many machines, of which the first is this one.
func (m *Machine) several(n int) []*Machine {
	all := []*Machine{m}
	for len(all) < n {
		all = append(all, &Machine{Open: m.Open, first: m})
	}
	return all
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
	if err == nil {
		m.backend, m.programs = b, pcl.NewPrograms(b)
	}
	return b, err
}

// Dataset returns the data set of the given name, and opens it if necessary. It forgets the one
// before, so that two are in memory only while runs on both are made.
func (m *Machine) Dataset(ctx context.Context, name string) (*datasets.Dataset, error) {
	return m.Pictures(ctx, Config{Dataset: name})
}

// Pictures returns the data set of a configuration as it is before features are computed.
func (m *Machine) Pictures(ctx context.Context, c Config) (*datasets.Dataset, error) {
	if m.first != nil {
		return m.first.Pictures(ctx, c)
	}
	m.opening.Lock()
	defer m.opening.Unlock()
	return m.pictures(ctx, c)
}

func (m *Machine) pictures(ctx context.Context, c Config) (*datasets.Dataset, error) {
	o := c.onSpec(datasets.Options{Dir: m.DataDir})
	if m.set != nil && m.set.Name == c.Dataset && m.side == o.Side {
		return m.set, nil
	}
	m.set = nil
	set, err := datasets.Open(ctx, c.Dataset, o)
	if err != nil {
		return nil, err
	}
	if m.set, m.side = set, o.Side; m.opened != nil {
		m.opened(set)
	}
	return set, nil
}

// ready opens the data set and the backend, which a run needs.
func (m *Machine) ready(ctx context.Context, c Config) (*datasets.Dataset, error) {
	set, err := m.DatasetOf(ctx, c)
	if err != nil && ctx.Err() != nil {
		return nil, ErrInterrupted // of the features: those that were computed are kept
	}
	if err != nil {
		return nil, dataError{fmt.Errorf("this machine cannot make runs on %s: %w", c.Dataset, err)}
	}
	if _, err := m.Backend(ctx); err != nil {
		return nil, err
	}
	return set, nil
}
