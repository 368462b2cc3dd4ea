package grid

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Results are those of a grid, as far as its cells are finished.
type Results struct {
	Manifest *Manifest
	Runs     map[string]*results.Run // by cell
	Seconds  map[string]float64      // that each cell took, by cell
	Failures map[string]string       // reasons, by cell
	// Notes says in sentences what a reader should know: about records that could not be read, and cells that have
	// more than one result.
	Notes []string
}

// Collect reads the results of a grid.
func (f Folder) Collect(name string) (*Results, error) {
	m, err := f.Manifest(name)
	if err != nil {
		return nil, err
	}
	x, err := f.Index()
	if err != nil {
		return nil, err
	}
	return x.collect(m)
}

// collect reads the results of the cells of a manifest.
func (x *Index) collect(m *Manifest) (*Results, error) {
	out := &Results{Manifest: m, Runs: map[string]*results.Run{}, Seconds: map[string]float64{}, Failures: map[string]string{}, Notes: x.Notes()}
	for _, c := range m.Cells {
		switch s, last := x.state(c.ID); s {
		case completed:
			if err := x.take(out, c); err != nil {
				return nil, err
			}
		case broken:
			out.Failures[c.ID] = last.reason
		}
	}
	return out, nil
}

// take reads the result of a cell. If there are several, all must be the same, apart from what was measured.
func (x *Index) take(out *Results, c Cell) error {
	for _, at := range x.cells[c.ID].done {
		r, err := x.load(at)
		if err != nil {
			return err
		}
		run, err := r.result(c)
		first := out.Runs[c.ID]
		switch {
		case err != nil:
			out.Notes = append(out.Notes, fmt.Sprintf("A result in %s does not count: %v.", at.file, err))
		case first == nil:
			out.Runs[c.ID], out.Seconds[c.ID] = run, r.Seconds
		case !same(first, run):
			out.Notes = append(out.Notes, fmt.Sprintf("Cell %s (%s) has two results that differ, the second in %s; the first counts.", c.ID, c.name(), at.file))
		default:
			out.Notes = append(out.Notes, fmt.Sprintf("Cell %s (%s) was made twice, with the same result; it counts once.", c.ID, c.name()))
		}
	}
	return nil
}

// same reports whether two runs have the same result.
func same(a, b *results.Run) bool {
	return a.ModelSHA256 == b.ModelSHA256 && a.MemorySHA256 == b.MemorySHA256 && a.A == b.A && a.F == b.F
}

// Missing returns the number of cells without a result.
func (r *Results) Missing() int { return len(r.Manifest.Cells) - len(r.Runs) }
