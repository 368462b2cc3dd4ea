package rows

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// column is one of a file's.
type column struct {
	name string
	get  func(*Row) string
	set  func(*Row, string) error
	// result says that only rows with a result have it.
	result bool
}

// place are the columns before those of what is varied, outcome those behind. New ones come last, so that programs that
// count columns go on reading the files.
var (
	place = []column{
		text("grid", func(r *Row) *string { return &r.Grid }),
		text("dataset", func(r *Row) *string { return &r.Dataset }),
		text("paper_dataset", func(r *Row) *string { return &r.PaperDataset }),
		text("method", func(r *Row) *string { return &r.Method }),
		text("paper_method", func(r *Row) *string { return &r.PaperMethod }),
		text("increment", func(r *Row) *string { return &r.Increment }),
	}
	outcome = []column{
		natural("labelset", func(r *Row) *uint64 { return &r.LabelSet }),
		natural("timeline", func(r *Row) *uint64 { return &r.Timeline }),
		natural("seed", func(r *Row) *uint64 { return &r.Seed }),
		text("cell", func(r *Row) *string { return &r.Cell }),
		number("A", func(r *Row) *float64 { return &r.A }),
		number("F", func(r *Row) *float64 { return &r.F }),
		number("A_first", func(r *Row) *float64 { return &r.AFirst }),
		whole("steps", func(r *Row) *int { return &r.Steps }),
		ofResult(text("diverged_at", func(r *Row) *string { return &r.Diverged })),
		whole("skipped_rows", func(r *Row) *int { return &r.Skipped }),
		number("train_seconds", func(r *Row) *float64 { return &r.TrainSeconds }),
		number("eval_seconds", func(r *Row) *float64 { return &r.EvalSeconds }),
		number("step_ms", func(r *Row) *float64 { return &r.StepMillis }),
		ofResult(text("backend", func(r *Row) *string { return &r.Backend })),
		ofResult(text("device", func(r *Row) *string { return &r.Device })),
		whole("threads", func(r *Row) *int { return &r.Threads }),
		ofResult(text("version", func(r *Row) *string { return &r.Version })),
		ofResult(text("commit", func(r *Row) *string { return &r.Commit })),
		ofResult(text("model_sha256", func(r *Row) *string { return &r.Model })),
		text("title", func(r *Row) *string { return &r.Title }),
		text("paper", func(r *Row) *string { return &r.Paper }),
		text("size", func(r *Row) *string { return &r.Size }),
		text("program", func(r *Row) *string { return &r.Program }),
		text("state", func(r *Row) *string { return (*string)(&r.State) }),
		text("reason", func(r *Row) *string { return &r.Reason }),
		number("seconds", func(r *Row) *float64 { return &r.Seconds }),
		ofResult(text("run", func(r *Row) *string { return &r.Run })),
		ofResult(text("run_method", func(r *Row) *string { return &r.RunMethod })),
		ofResult(text("run_variant", func(r *Row) *string { return &r.RunVariant })),
		{name: "ends", get: func(r *Row) string { return joined(r.Ends) }, set: func(r *Row, s string) (err error) {
			r.Ends, err = split(s)
			return err
		}, result: true},
	}
)

func ofResult(c column) column {
	c.result = true
	return c
}

func text(name string, at func(*Row) *string) column {
	return column{name: name, get: func(r *Row) string { return *at(r) }, set: func(r *Row, s string) error {
		*at(r) = s
		return nil
	}}
}

func number(name string, at func(*Row) *float64) column {
	return column{name: name, result: true, get: func(r *Row) string {
		if math.IsNaN(*at(r)) {
			return ""
		}
		return Exact(*at(r))
	}, set: func(r *Row, s string) (err error) {
		*at(r), err = finite(s)
		return err
	}}
}

// finite reads a decimal number, not what only Go takes for one, such as 1_0, 0x10 or NaN.
func finite(s string) (float64, error) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%q is not a finite number", s)
	}
	return strconv.ParseFloat(s, 64)
}

func whole(name string, at func(*Row) *int) column {
	return column{name: name, result: true, get: func(r *Row) string { return strconv.Itoa(*at(r)) }, set: func(r *Row, s string) (err error) {
		*at(r), err = strconv.Atoi(s)
		return err
	}}
}

func natural(name string, at func(*Row) *uint64) column {
	return column{name: name, get: func(r *Row) string { return fmt.Sprint(*at(r)) }, set: func(r *Row, s string) (err error) {
		*at(r), err = strconv.ParseUint(s, 10, 64)
		return err
	}}
}

// Exact writes a number so that reading it gives the same number.
func Exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// joined writes percentages with three digits, which is what a figure shows.
func joined(percent []float64) string {
	var parts []string
	for _, x := range percent {
		parts = append(parts, strconv.FormatFloat(x, 'f', 3, 64))
	}
	return strings.Join(parts, " ")
}

func split(s string) (out []float64, err error) {
	for _, part := range strings.Fields(s) {
		x, err := finite(part)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
