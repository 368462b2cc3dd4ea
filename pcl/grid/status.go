package grid

import (
	"slices"
	"strings"
	"time"
)

// Status says how far a grid has come.
type Status struct {
	Name, Title string
	Cells       int // of which the following five are the parts
	Done        int
	Failed      int
	Running     int
	Saved       int // begun and left by their workers, to be continued
	Untouched   int

	Diverged int // of those that are done
	// Left is the number of cells that are neither done nor failed, and SecondsLeft how long one process would take
	// for them, by the times of finished cells or, where none of a kind is finished, by the pace of those in progress.
	// Unmeasured cells, for which neither is known, are not in it.
	Left, Unmeasured int
	SecondsLeft      float64
	Workers          []Working
	Failures         []Failure
	Notes            []string // what a reader of the results should know
}

// Working is a cell that a worker is at.
type Working struct {
	Cell   Cell
	Holder Holder
}

// Failure is a cell that could not be made.
type Failure struct {
	Cell   Cell
	Place  string // the first of the grid's places that the cell is for, with the grid's names
	Reason string
}

// ETA is the time until the grid is finished, if the workers of now go on. It is 0 if there is none, or nothing has
// been measured.
func (s *Status) ETA() time.Duration {
	if len(s.Workers) == 0 {
		return 0
	}
	return time.Duration(s.SecondsLeft / float64(len(s.Workers)) * float64(time.Second))
}

// Name says in a few words which run a cell is.
func (c Cell) Name() string { return c.name() }

// Status says how far a grid has come.
func (f Folder) Status(name string) (*Status, error) {
	w, err := f.Watch(name)
	if err != nil {
		return nil, err
	}
	return w.Status()
}

// Watcher follows a grid. In contrast to a single look, it finds out which workers on other machines are dead.
type Watcher struct {
	manifest *Manifest
	index    *Index
	leases   *leases
}

// Watch returns a watcher of a grid.
func (f Folder) Watch(name string) (*Watcher, error) {
	m, err := f.Manifest(name)
	if err != nil {
		return nil, err
	}
	x, err := f.Index()
	if err != nil {
		return nil, err
	}
	return &Watcher{m, x, f.leases(DefaultExpiry)}, nil
}

// Status says how far the grid has come by now.
func (w *Watcher) Status() (*Status, error) {
	if err := w.index.Refresh(); err != nil {
		return nil, err
	}
	holders, err := w.leases.holders()
	if err != nil {
		return nil, err
	}
	s := &Status{
		Name: w.manifest.Name, Title: w.manifest.Title, Cells: len(w.manifest.Cells),
		Workers: []Working{}, Failures: []Failure{}, Notes: append([]string{}, w.index.Notes()...), // not null in JSON
	}
	paces, err := w.paces(holders)
	if err != nil {
		return nil, err
	}
	for _, c := range w.manifest.Cells {
		if err := w.add(s, c, holders, paces); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.Workers, func(a, b Working) int { return strings.Compare(a.Holder.String(), b.Holder.String()) })
	return s, nil
}

// paces estimates from the cells in progress how long cells of their kinds take.
func (w *Watcher) paces(holders map[string]Holder) (*estimates, error) {
	out := newEstimates()
	for _, c := range w.manifest.Cells {
		seconds := holders[c.ID].expected()
		if seconds == 0 {
			continue
		}
		kind, wider, err := kinds(c.Config, w.manifest.Compute)
		if err != nil {
			return nil, err
		}
		out.add(kind, wider, seconds)
	}
	return out, nil
}

// add counts a cell.
func (w *Watcher) add(s *Status, c Cell, holders map[string]Holder, paces *estimates) error {
	now, last := w.index.state(c.ID)
	h, running := holders[c.ID]
	left := 1.0
	switch {
	case now == completed:
		s.Done++
		if w.index.cells[c.ID].diverged {
			s.Diverged++
		}
		return nil
	case running:
		s.Running++
		s.Workers = append(s.Workers, Working{c, h})
		if h.Steps > 0 {
			left -= float64(h.Step) / float64(h.Steps)
		}
	case now == broken:
		s.Failed++
		s.Failures = append(s.Failures, Failure{c, w.manifest.placeOf(c), last.reason})
		return nil
	case now == begun:
		s.Saved++
		if last.steps > 0 {
			left -= float64(last.step) / float64(last.steps)
		}
	default:
		s.Untouched++
	}
	s.Left++
	kind, wider, err := kinds(c.Config, w.manifest.Compute)
	if err != nil {
		return err
	}
	t := w.index.times.of(kind, wider)
	if t.n == 0 {
		t = paces.of(kind, wider)
	}
	if t.n == 0 {
		s.Unmeasured++
	}
	s.SecondsLeft += left * t.mean
	return nil
}
