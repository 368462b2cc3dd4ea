package tensorboard

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Save writes the event file of a run to a folder of its own. One that was written there before, of the same place of a
// grid for instance, is replaced.
func Save(dir string, r *results.Run, records []results.Record) error {
	path := filepath.Join(dir, fileName(r))
	err := atomicfile.Write(path, func(w io.Writer) error { return write(w, r, records) })
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(escaped(dir), "events.out.tfevents.*.pcl"))
	for _, o := range old {
		if o != path {
			err = errors.Join(err, os.Remove(o))
		}
	}
	return err
}

// escaped returns a folder as a pattern that matches itself alone.
func escaped(dir string) string {
	var out []rune
	for _, r := range dir {
		switch r {
		case '*', '?', '[', '\\':
			if filepath.Separator != '\\' {
				out = append(out, '\\')
			}
		}
		out = append(out, r)
	}
	return string(out)
}
