package rows

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/csvcell"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// column is a column of a file.
type column struct {
	name string
	at   func(*Row) any // a pointer to the value
	kind kind
}

// kind says which rows and files have a column.
type kind int

const (
	always  kind = iota // each row
	result              // each row with a result
	further             // the same; files of older programs lack it
)

// before are the columns before those of what is varied.
var before = []column{
	{"grid", func(r *Row) any { return &r.Grid }, always},
	{"dataset", func(r *Row) any { return &r.Dataset }, always},
	{"paper_dataset", func(r *Row) any { return &r.PaperDataset }, always},
	{"method", func(r *Row) any { return &r.Method }, always},
	{"paper_method", func(r *Row) any { return &r.PaperMethod }, always},
	{"increment", func(r *Row) any { return &r.Increment }, always},
}

// behind returns the columns behind those of what is varied. New ones come last, so that programs
// that count columns go on reading the files.
func behind() []column {
	out := []column{
		{"labelset", func(r *Row) any { return &r.LabelSet }, always},
		{"timeline", func(r *Row) any { return &r.Timeline }, always},
		{"seed", func(r *Row) any { return &r.Seed }, always},
		{"cell", func(r *Row) any { return &r.Cell }, always},
		{"A", func(r *Row) any { return &r.Run.A }, result},
		{"F", func(r *Row) any { return &r.Run.F }, result},
		{"A_first", func(r *Row) any { return &r.Run.AFirst }, result},
		{"steps", func(r *Row) any { return &r.Run.Steps }, result},
		{"diverged_at", func(r *Row) any { return &r.Run.DivergedAt }, result},
		{"skipped_rows", func(r *Row) any { return &r.Run.Skipped }, result},
		{"train_seconds", func(r *Row) any { return &r.Run.Measured.TrainSeconds }, result},
		{"eval_seconds", func(r *Row) any { return &r.Run.Measured.EvalSeconds }, result},
		{"step_ms", func(r *Row) any { return &r.Run.Measured.StepMillis }, result},
		{"backend", func(r *Row) any { return &r.Run.Measured.Backend }, result},
		{"device", func(r *Row) any { return &r.Run.Measured.Device }, result},
		{"threads", func(r *Row) any { return &r.Run.Measured.Threads }, result},
		{"version", func(r *Row) any { return &r.Run.Measured.Version }, result},
		{"commit", func(r *Row) any { return &r.Run.Measured.Commit }, result},
		{"model_sha256", func(r *Row) any { return &r.Run.ModelSHA256 }, result},
		{"title", func(r *Row) any { return &r.Title }, always},
		{"paper", func(r *Row) any { return &r.Paper }, always},
		{"size", func(r *Row) any { return &r.Size }, always},
		{"program", func(r *Row) any { return &r.Program }, always},
		{"state", func(r *Row) any { return &r.State }, always},
		{"reason", func(r *Row) any { return &r.Reason }, always},
		{"seconds", func(r *Row) any { return &r.Seconds }, result},
		{"run", func(r *Row) any { return &r.Run.ID }, result},
		{"run_method", func(r *Row) any { return &r.Run.Method }, result},
		{"run_variant", func(r *Row) any { return &r.Run.Variant }, result},
		{"ends", func(r *Row) any { return &r.Run.Curve }, result},
	}
	out = append(out, byteColumns...)
	for _, m := range results.Metrics[3:] {
		out = append(out, column{m.Name, func(r *Row) any { return r.keep(m) }, further})
	}
	return out
}

// byteColumns are the columns of both forms of tables for what a method keeps.
var byteColumns = []column{
	{"stored_bytes", func(r *Row) any { return &r.Run.Measured.StoredBytes }, further},
	{"statistics_bytes", func(r *Row) any { return &r.Run.Measured.StatisticsBytes }, further},
}

// keep returns a place for a metric that is not a field of the run.
func (r *Row) keep(m *results.Metric) *float64 {
	if r.kept == nil {
		r.kept = map[*results.Metric]*float64{}
	}
	if r.kept[m] == nil {
		x := m.Of(r.Run)
		r.kept[m] = &x
	}
	return r.kept[m]
}

// get returns the value of a column as text.
func (c column) get(r *Row) string {
	if c.kind != always && r.State != Done {
		return ""
	}
	switch v := c.at(r).(type) {
	case *string:
		return *v
	case *int:
		if c.kind != further || *v != 0 {
			return strconv.Itoa(*v)
		}
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case **int:
		if *v != nil {
			return strconv.Itoa(**v)
		}
	case *float64:
		if c.kind != further || !math.IsNaN(*v) {
			return csvcell.Text(*v, -1)
		}
	case *[]results.Point:
		return joined(ends(*v))
	}
	return ""
}

// set reads the value of a column.
func (c column) set(r *Row, s string) (err error) {
	if c.kind != always && s == "" {
		return nil
	}
	switch at := c.at(r).(type) {
	case *string:
		*at = s
	case *int:
		*at, err = strconv.Atoi(s)
	case *uint64:
		*at, err = strconv.ParseUint(s, 10, 64)
	case **int:
		var n int
		n, err = strconv.Atoi(s)
		*at = &n
	case *float64:
		*at, err = finite(s)
	case *[]results.Point:
		*at, err = split(s)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.name, err)
	}
	return err
}

// finite reads a decimal number. Forms that only Go reads, such as 1_0, 0x10 or NaN, are errors.
func finite(s string) (float64, error) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%q is not a finite number", s)
	}
	return strconv.ParseFloat(s, 64)
}

// ends returns the mean accuracy at each end of a task, in percent.
func ends(curve []results.Point) (percent []float64) {
	for _, p := range curve {
		for range p.Ended {
			percent = append(percent, 100*p.Mean)
		}
	}
	return percent
}

// joined writes percentages with three digits, which is what a figure shows.
func joined(percent []float64) string {
	var parts []string
	for _, x := range percent {
		parts = append(parts, strconv.FormatFloat(x, 'f', 3, 64))
	}
	return strings.Join(parts, " ")
}

// split reads percentages as a curve that has a point for each end of a task, at steps that only
// count them.
func split(s string) (out []results.Point, err error) {
	for i, part := range strings.Fields(s) {
		percent, err := finite(part)
		if err != nil {
			return nil, err
		}
		out = append(out, results.Point{Step: i, Ended: []int{i + 1}, Mean: percent / 100})
	}
	return out, nil
}
