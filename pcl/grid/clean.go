package grid

import (
	"errors"
	"os"
	"path/filepath"
)

// Cleaned says what [Folder.Clean] removed.
type Cleaned struct {
	Folders int // of cells that are finished, failed, or in no manifest any more
	Leases  int // of workers that are dead
}

// Clean removes what is of no use any more: the folders of cells that nobody will go on with, and the leases of dead
// workers on this machine. It leaves manifests and results alone, and whatever running workers need.
func (f Folder) Clean() (Cleaned, error) {
	var out Cleaned
	x, err := f.Index()
	if err != nil {
		return out, err
	}
	planned, err := f.planned()
	if err != nil {
		return out, err
	}
	l := f.leases(DefaultExpiry)
	l.brief = true // so that a worker which meets one waits, and does not end as if the cell were being made
	all, err := l.list()
	if err != nil {
		return out, err
	}
	for cell := range all {
		mine, err := l.take(cell) // which removes the files of the dead
		if err != nil {
			return out, err
		}
		if mine == nil {
			continue
		}
		out.Leases++
		if err := mine.release(); err != nil {
			return out, err
		}
	}
	entries, err := os.ReadDir(f.path(workDir))
	if err != nil && !os.IsNotExist(err) {
		return out, err
	}
	for _, e := range entries {
		removed, err := f.cleanFolder(x, l, e.Name(), planned[e.Name()])
		if err != nil {
			return out, err
		}
		if removed {
			out.Folders++
		}
	}
	return out, nil
}

// planned returns the cells of all manifests.
func (f Folder) planned() (map[string]bool, error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, name := range names {
		m, err := f.Manifest(name)
		if err != nil {
			return nil, err
		}
		for _, c := range m.Cells {
			out[c.ID] = true
		}
	}
	return out, nil
}

// cleanFolder removes the folder of a cell, unless it can be continued or a worker is at it.
func (f Folder) cleanFolder(x *Index, l *leases, cell string, planned bool) (removed bool, err error) {
	needed := func() bool {
		s, _ := x.state(cell)
		return planned && (s == fresh || s == begun)
	}
	if needed() {
		return false, nil
	}
	mine, err := l.take(cell)
	if mine == nil || err != nil {
		return false, err
	}
	if err := x.Refresh(); err != nil {
		return false, errors.Join(err, mine.release())
	}
	if needed() { // somebody tried it again meanwhile
		return false, mine.release()
	}
	return true, errors.Join(os.RemoveAll(f.work(filepath.Base(cell))), mine.release())
}
