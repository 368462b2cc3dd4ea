// Package store writes the results of grids to an SQLite file, which people query. Begin with [Write].
//
// Accuracies are fractions in [0,1]; A and F are in percent. The table measured has what may differ between two runs
// of one configuration; everything else is the same whoever made the cells, and in whichever order. The view results
// has a line for each finished row of a grid.
package store

import (
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver: SQLite translated to Go, which needs no cgo

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/disk"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results"
)

//go:embed schema.sql
var schema string

// Write creates or replaces the SQLite file at path. The file that was there stays until the new one is complete.
func Write(path string, all []*grid.Results) error {
	return atomicfile.Write(path, func(out io.Writer) error { return write(out, all) })
}

// write makes the database in a temporary folder, since SQLite writes files only, and copies it.
func write(out io.Writer, all []*grid.Results) (err error) {
	dir, err := os.MkdirTemp("", "pcl-collect-")
	if err != nil {
		return disk.Explain(err, os.TempDir())
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	made := filepath.Join(dir, "results.sqlite")
	if err := fill(made, all); err != nil {
		return disk.Explain(err, dir)
	}
	f, err := os.Open(made)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return err
}

// fill writes the results to a new file.
func fill(path string, all []*grid.Results) error {
	// A journal would serve to undo changes after a crash, but then the whole file is thrown away.
	address := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: "_pragma=journal_mode(off)&_pragma=synchronous(full)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return err
	}
	w := &writer{known: map[string]bool{}}
	if w.tx, err = db.Begin(); err != nil {
		return errors.Join(err, db.Close())
	}
	w.exec(schema)
	for _, r := range all {
		w.grid(r)
	}
	if w.err != nil {
		return errors.Join(w.err, w.tx.Rollback(), db.Close())
	}
	return errors.Join(w.tx.Commit(), db.Close())
}

// writer inserts lines until the first error.
type writer struct {
	tx    *sql.Tx
	known map[string]bool // cells
	err   error
}

func (w *writer) exec(statement string, values ...any) {
	if w.err == nil {
		_, w.err = w.tx.Exec(statement, values...)
	}
}

// text returns a value as JSON.
func (w *writer) text(v any) string {
	data, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	return string(data)
}

// whole returns a seed as a number, or as text if it is too large for one.
func whole(seed uint64) any {
	if seed > math.MaxInt64 {
		return fmt.Sprint(seed)
	}
	return int64(seed)
}

func (w *writer) grid(r *grid.Results) {
	m := r.Manifest
	w.exec("INSERT INTO grids VALUES (?,?,?,?,?,?,?,?,?)", m.Name, m.Title, m.Paper, m.Size, m.Program, m.Build, m.Compute.Backend, m.Compute.Threads, m.Compute.TF32)
	for i, row := range m.Rows {
		vary := any(nil)
		if len(row.Vary) > 0 {
			vary = w.text(row.Vary)
		}
		w.exec("INSERT INTO places VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", m.Name, i, row.Cell, row.Dataset, row.PaperDataset, row.Method, row.PaperMethod,
			string(row.Increment), whole(row.LabelSet), whole(row.Timeline), whole(row.Seed), vary)
	}
	for _, c := range m.Cells {
		if w.known[c.ID] {
			continue
		}
		w.known[c.ID] = true
		w.cell(c, r.Runs[c.ID], r.Failures[c.ID])
	}
}

func (w *writer) cell(c grid.Cell, run *results.Run, failure string) {
	k := c.Config
	w.exec("INSERT INTO cells VALUES (?,?,?,?,?,?,?,?,?,?)", c.ID, k.Method, w.text(k.Params), k.Dataset, string(k.Increment), string(k.Kind),
		whole(k.LabelSet), whole(k.Timeline), whole(k.Seed), w.text(k))
	if failure != "" {
		w.exec("INSERT INTO failures VALUES (?,?)", c.ID, failure)
	}
	if run == nil {
		return
	}
	w.exec("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", c.ID, run.A, run.F, run.AFirst, run.Steps, run.DivergedAt, run.Skipped, run.Rejected,
		run.ModelSHA256, run.MemorySHA256, w.text(run.PerK), w.text(run.Drift))
	for _, t := range run.Tasks {
		w.exec("INSERT INTO tasks VALUES (?,?,?,?,?,?,?,?,?,?,?)", c.ID, t.ID, w.text(t.Classes), t.Start, t.End, t.Train, t.Test, t.AccEnd, t.AccFinal, t.LossFirst, t.LossLast)
		for _, k := range t.ByClass {
			w.exec("INSERT INTO classes VALUES (?,?,?,?,?,?)", c.ID, t.ID, k.Class, k.Test, k.AccEnd, k.AccFinal)
		}
	}
	for _, p := range run.Curve {
		for i, acc := range p.Acc {
			if acc != nil {
				w.exec("INSERT INTO accuracies VALUES (?,?,?,?)", c.ID, p.Step, i+1, *acc)
			}
		}
	}
	m := run.Measured
	w.exec("INSERT INTO measured VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", c.ID, m.Started, m.Finished, m.TrainSeconds, m.EvalSeconds, m.StepMillis, m.Resumed,
		m.Backend, m.Device, m.Threads, m.Version, m.Commit, m.GoVersion)
}
