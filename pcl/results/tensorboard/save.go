package tensorboard

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Save writes the event file of a run to a folder of its own in dir, named by what the run is. One
// that was written there before is replaced.
func Save(dir string, r *results.Run, records []results.Record) error {
	g := results.RunGroup{Runs: []*results.Run{r}}
	dir = filepath.Join(dir, folder(r.Dataset), folder(r.Increment), folder(g.Label()),
		fmt.Sprintf("label set %d, timeline %d, seed %d, %s", r.LabelSet, r.Timeline, r.Seed, folder(r.ID)))
	path := filepath.Join(dir, fileName(r))
	err := atomicfile.Write(path, func(w io.Writer) error { return write(w, r, records) })
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if ours, _ := filepath.Match("events.out.tfevents.*.pcl", e.Name()); ours && e.Name() != filepath.Base(path) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// folder is a text without the characters that file systems may refuse in names of folders.
func folder(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, text)
	return cmp.Or(strings.TrimRight(text, ". "), "_")
}
