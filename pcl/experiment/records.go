package experiment

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// recorder appends one JSON line per step. A nil recorder does nothing.
type recorder struct {
	file *os.File
	w    *bufio.Writer
}

// openRecords opens the record file, if one was asked for or the run has one already. A resumed run
// cuts off the lines that were written after its checkpoint.
func (r *runner) openRecords() error {
	if !r.work.Record && r.state.Records == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.dir, results.RecordsFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	r.records = &recorder{f, bufio.NewWriter(f)}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size < r.state.Records {
		return fmt.Errorf("%s has %d bytes, the checkpoint was made at %d: it was altered since",
			f.Name(), size, r.state.Records)
	}
	if err := f.Truncate(r.state.Records); err != nil {
		return err
	}
	_, err = f.Seek(r.state.Records, io.SeekStart)
	return err
}

func (r *recorder) write(s *pcl.StepReport) error {
	if r == nil {
		return nil
	}
	data, err := json.Marshal(Record(s))
	if err != nil {
		return fmt.Errorf("record step %d: %w", s.Step, err)
	}
	_, err = r.w.Write(append(data, '\n'))
	return err
}

// flush writes everything to disk and returns the file's length.
func (r *recorder) flush() (int64, error) {
	if r == nil {
		return 0, nil
	}
	if err := errors.Join(r.w.Flush(), r.file.Sync()); err != nil {
		return 0, err
	}
	return r.file.Seek(0, io.SeekCurrent)
}

// joined adds up values by the rows that the rule saw. Values of rows that it did not see are added
// to its first row, which stands for the joined rows of the memory.
func joined(ids, seen []int, values []float64) []float64 {
	if values == nil {
		return nil
	}
	out := make([]float64, len(seen))
	for i, x := range values {
		out[max(0, slices.Index(seen, ids[i]))] += x
	}
	return out
}

// Record returns what the record file holds about a step. Unlike the report, it stays valid after
// the next step. Where a composition joins the memory's rows, the record has the rows that the rule
// saw.
func Record(s *pcl.StepReport) results.Record {
	out := results.Record{
		Step: s.Step, IDs: slices.Clone(s.IDs), Losses: slices.Clone(s.Losses), Gram: slices.Clone(s.Gram),
		Weights: slices.Clone(s.Weights), NormD: s.NormD,
	}
	out.LossesAfter, out.Rises = slices.Clone(s.LossesAfter), slices.Clone(s.Rises)
	// rows were joined: record them as the certificate has them
	if j := s.Outcome.Summed; j != nil && (j.Gram != nil || s.Gram == nil) {
		out.IDs, out.Gram, out.Weights = slices.Clone(j.IDs), slices.Clone(j.Gram), slices.Clone(j.Weights)
		out.Losses, out.LossesAfter = joined(s.IDs, j.IDs, s.Losses), joined(s.IDs, j.IDs, s.LossesAfter)
		out.Rises = joined(s.IDs, j.IDs, s.Rises)
	}
	if e := s.Edit; e != nil {
		out.Edit = &results.Edit{Samples: len(e.Indices), Phi: e.Phi, Change: e.Change}
	}
	if c := s.Outcome.Certificate; c != nil {
		c = c.Clone()
		out.Sigma, out.Lambda, out.Slacks, out.Gap, out.Status = c.Sigma, c.Lambda, c.Slacks, c.Gap, c.Status.String()
	}
	return out
}
