// Package tensorboard writes runs as event files, which TensorBoard shows.
package tensorboard

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Tags of the scalars. Tags of a task end with its number: "accuracy/task_1". The memory has the
// loss "loss/memory", a further row of it "loss/memory_1" for the id −1, and a penalty
// "loss/penalty".
const (
	tagA        = "A"         // mean accuracy of the tasks that have begun, at each evaluation, in percent
	tagF        = "F"         // at the end of the run, in percent
	tagAccuracy = "accuracy/" // of a task, in percent
	tagLoss     = "loss/"     // of a row, in each step that was recorded
	tagNorm     = "norm_d"    // length of the step's direction over the shared parameters
)

// fileName returns a name for the event file of a run. TensorBoard reads all such files of a folder
// as one run, so that each run needs a folder of its own.
func fileName(r *results.Run) string {
	return fmt.Sprintf("events.out.tfevents.%010d.pcl", r.Measured.Started.Unix())
}

// write writes a run, and the records of its steps if there are any, as an event file. The times in
// it are spread evenly between the beginning and the end of the run, since those of single steps
// are not kept.
func write(out io.Writer, r *results.Run, records []results.Record) error {
	if err := frame(out, versionEvent(r.Measured.Started)); err != nil {
		return err
	}
	steps := scalars(r, records)
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		if err := frame(out, event(when(r, step), step, steps[step])); err != nil {
			return err
		}
	}
	return nil
}

// scalar is a number with its tag.
type scalar struct {
	tag   string
	value float64
}

// scalars returns what there is to show, by step.
func scalars(r *results.Run, records []results.Record) map[int][]scalar {
	out := map[int][]scalar{}
	add := func(step int, tag string, value float64) { out[step] = append(out[step], scalar{tag, value}) }
	for _, rec := range records {
		for i, id := range rec.IDs {
			if i < len(rec.Losses) {
				add(rec.Step, tagLoss+row(id), rec.Losses[i])
			}
		}
		add(rec.Step, tagNorm, rec.NormD)
	}
	for _, p := range r.Curve {
		add(p.Step, tagA, 100*p.Mean)
		for i, a := range p.Acc {
			if a != nil {
				add(p.Step, tagAccuracy+row(i+1), 100**a)
			}
		}
	}
	if n := len(r.Curve); n > 0 {
		add(r.Curve[n-1].Step, tagF, r.F)
	}
	return out
}

// row is what a row of the gradients belongs to.
func row(id int) string {
	switch {
	case id == 0:
		return "memory"
	case id == results.PenaltyID:
		return "penalty"
	case id < 0:
		return fmt.Sprintf("memory_%d", -id)
	}
	return fmt.Sprintf("task_%d", id)
}

// when returns about the time of a step.
func when(r *results.Run, step int) time.Time {
	m := r.Measured
	if r.Steps == 0 || m.Finished.Before(m.Started) {
		return m.Started
	}
	part := float64(step+1) / float64(r.Span())
	return m.Started.Add(time.Duration(part * float64(m.Finished.Sub(m.Started))))
}
