package rows

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/csvcell"
)

// column is one of a file's: a field of [Row] with its name as a tag.
type column struct {
	name   string
	index  []int // of the field
	result bool  // only rows with a result have it
}

// place are the columns before those of what is varied, outcome those behind. New ones come last, so that programs that
// count columns go on reading the files.
var (
	place   = columns("grid dataset paper_dataset method paper_method increment")
	outcome = columns("labelset timeline seed cell A F A_first steps diverged_at skipped_rows train_seconds eval_seconds step_ms backend device " +
		"threads version commit model_sha256 title paper size program state reason seconds run run_method run_variant ends")
)

func columns(names string) (out []column) {
	fields := reflect.VisibleFields(reflect.TypeFor[Row]())
	for name := range strings.FieldsSeq(names) {
		for _, f := range fields {
			if f.Tag.Get("csv") == name {
				out = append(out, column{name, f.Index, len(f.Index) > 1}) // those of the embedded Result
			}
		}
	}
	return out
}

func (c column) get(r *Row) string {
	if c.result && r.State != Done {
		return ""
	}
	switch v := reflect.ValueOf(r).Elem().FieldByIndex(c.index).Interface().(type) {
	case []float64:
		return joined(v)
	default:
		return csvcell.Text(v, -1)
	}
}

func (c column) set(r *Row, s string) (err error) {
	if c.result && s == "" {
		return nil
	}
	switch at := reflect.ValueOf(r).Elem().FieldByIndex(c.index).Addr().Interface().(type) {
	case *string:
		*at = s
	case *int:
		*at, err = strconv.Atoi(s)
	case *uint64:
		*at, err = strconv.ParseUint(s, 10, 64)
	case *float64:
		*at, err = finite(s)
	case *[]float64:
		*at, err = split(s)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.name, err)
	}
	return err
}

// finite reads a decimal number, not what only Go takes for one, such as 1_0, 0x10 or NaN.
func finite(s string) (float64, error) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%q is not a finite number", s)
	}
	return strconv.ParseFloat(s, 64)
}

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
