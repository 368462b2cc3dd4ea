package rows

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// three are a row with a result, one that failed, and one that is missing.
func three() []*Row {
	at, percent := 0, 33.333
	done := &Row{
		Grid: "g-full", Title: "=A, with a comma", Paper: "Table 1", Size: "full", Dataset: "D (half)", PaperDataset: "D",
		Method:      "M",
		PaperMethod: "M", Increment: "class", Vary: []Setting{{"batch", "8"}, {"params.tau", "inf"}},
		Trial: stats.Trial{Situation: stats.Situation{LabelSet: 1, Timeline: 2}, Seed: math.MaxUint64},
		Cell:  "c0", Program: "p", State: Done, Seconds: 3.5,
		Run: &results.Run{
			ID: "r", Method: "m", Variant: "edit", ModelSHA256: "0f",
			A: 100.0 / 3, F: -1e-17, AFirst: 100.0 / 3, Steps: 7, DivergedAt: &at, Skipped: 2,
			Curve: []results.Point{{Step: 0, Ended: []int{1}, Mean: 0.5}, {Step: 1, Ended: []int{2}, Mean: percent / 100}},
			Measured: results.Measured{
				TrainSeconds: 2, EvalSeconds: 1, StepMillis: 0.1,
				Maker: results.Maker{Backend: "go", Device: "a \"fast\" one", Threads: 3, Version: "v1", Commit: "abc"},
			},
		},
	}
	failed := *done
	failed.Cell, failed.State, failed.Reason, failed.Run, failed.Seconds = "c1", Failed, "no\nroom", nil, 0
	missing := failed
	missing.Cell, missing.State, missing.Reason = "c2", Missing, ""
	return []*Row{done, &failed, &missing}
}

func written(t *testing.T, all []*Row) string {
	t.Helper()
	var file bytes.Buffer
	must.Do(t, Write(&file, all))
	return file.String()
}

// firstMetrics leaves the metrics that are fields of a run, until the test ends: a further one
// would be NaN here, and have a column.
func firstMetrics(t *testing.T) {
	t.Helper()
	all := results.Metrics
	results.Metrics = all[:3:3]
	t.Cleanup(func() { results.Metrics = all })
}

func TestRoundTrip(t *testing.T) {
	firstMetrics(t)
	all := three()
	back := must.Get(parse(strings.NewReader(written(t, all))))(t)
	if len(back) != len(all) {
		t.Fatalf("%d rows came back; want %d", len(back), len(all))
	}
	for i, r := range back {
		t.Run(r.State, func(t *testing.T) {
			if !reflect.DeepEqual(r, all[i]) {
				t.Errorf("came back as %+v,\nwith the run %+v;\nwas %+v,\nwith the run %+v", r, r.Run, all[i], all[i].Run)
			}
		})
	}
	if line := back[0].Line(); line != "M, batch=8, params.tau=inf" {
		t.Errorf("its line is %q", line)
	}
}

// TestValue: a row without a result has no metrics, and a method that trains again for each
// evaluation has A alone.
func TestValue(t *testing.T) {
	all := three()
	gdumb := three()[0]
	gdumb.Run.Method = "gdumb"
	for name, c := range map[string]struct {
		row    *Row
		metric *results.Metric
		want   float64
	}{
		"A":                {all[0], results.FinalAccuracy, 100.0 / 3},
		"F":                {all[0], results.FinalChange, -1e-17},
		"A_first":          {all[0], results.FirstAccuracy, 100.0 / 3},
		"A of a failure":   {all[1], results.FinalAccuracy, math.NaN()},
		"A of none":        {all[2], results.FinalAccuracy, math.NaN()},
		"A of gdumb":       {gdumb, results.FinalAccuracy, 100.0 / 3},
		"F of gdumb":       {gdumb, results.FinalChange, math.NaN()},
		"A_first of gdumb": {gdumb, results.FirstAccuracy, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.row.Value(c.metric); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("got %g, want %g", got, c.want)
			}
		})
	}
}

// TestFurtherMetric: a metric that is not a field of a run has a column of its own, the last, and a
// file without that column is read.
func TestFurtherMetric(t *testing.T) {
	lowest := &results.Metric{Name: "lowest", About: "lowest mean of an evaluation", Of: func(r *results.Run) float64 {
		low := 100.0
		for _, p := range r.Curve {
			low = min(low, 100*p.Mean)
		}
		return low
	}}
	firstMetrics(t)
	without := written(t, three())
	results.Metrics = append(results.Metrics, lowest)
	with := written(t, three())
	if head, _, _ := strings.Cut(with, "\n"); !strings.HasSuffix(head, ",ends,stored_bytes,statistics_bytes,lowest") {
		t.Errorf("the columns are %s", head)
	}
	lines := must.Get(csv.NewReader(strings.NewReader(with)).ReadAll())(t)
	if got := lines[1][len(lines[1])-1]; got != "33.333" {
		t.Errorf("lowest is written as %q", got)
	}
	changed := strings.Replace(with, "edit,50.000 33.333,,,33.333\n", "edit,50.000 33.333,,,30\n", 1)
	for name, c := range map[string]struct {
		file string
		want float64
	}{"with the column": {changed, 30}, "without it": {without, 33.333}} {
		t.Run(name, func(t *testing.T) {
			all := must.Get(parse(strings.NewReader(c.file)))(t)
			if got := all[0].Value(lowest); got != c.want {
				t.Errorf("lowest is %g, want %g", got, c.want)
			}
			if got := all[1].Value(lowest); !math.IsNaN(got) {
				t.Errorf("lowest of a failure is %g", got)
			}
		})
	}
}

// change replaces the value of a column in the first row.
func change(t *testing.T, column, value string) string {
	t.Helper()
	lines := must.Get(csv.NewReader(strings.NewReader(written(t, three()[:1]))).ReadAll())(t)
	lines[1][slices.Index(lines[0], column)] = value
	var text bytes.Buffer
	must.Do(t, csv.NewWriter(&text).WriteAll(lines))
	return text.String()
}

// TestReadRefuses: a result without its accuracy is none, and accuracies at tasks' ends are
// numbers, too.
func TestReadRefuses(t *testing.T) {
	file := written(t, three())
	for name, c := range map[string]struct{ file, want string }{
		"a column of another name": {strings.Replace(file, "model_sha256", "model", 1), `no column "model_sha256"`},
		"another version's column": {"lines," + strings.ReplaceAll(strings.TrimSpace(file), "\n", "\n1,"),
			`column "lines" is not known`},
		"nothing":                  {"", "no line of names"},
		"a state":                  {change(t, "state", "nearly"), `state is "nearly"`},
		"a seed":                   {change(t, "seed", "one"), "seed: "},
		"A of NaN":                 {change(t, "A", "NaN"), `"NaN" is not a finite number`},
		"A of +Inf":                {change(t, "A", "+Inf"), `"+Inf" is not a finite number`},
		"A out of range of floats": {change(t, "A", "1e999"), "A: "},
		"A as Go writes it":        {change(t, "A", "3_3.3"), `"3_3.3" is not a finite number`},
		"A below 0":                {change(t, "A", "-5"), "A is -5"},
		"A above 100":              {change(t, "A", "101"), "A is 101"},
		"no A":                     {change(t, "A", ""), "A is NaN"},
		"no F":                     {change(t, "F", ""), "F is NaN"},
		"no A_first":               {change(t, "A_first", ""), "A_first is NaN"},
		"F that is not A-A_first":  {change(t, "F", "3"), "F is 3"},
		"ends of NaN":              {change(t, "ends", "50 NaN"), "ends: "},
		"ends of -Inf":             {change(t, "ends", "-Inf"), "ends: "},
		"another last end":         {change(t, "ends", "50 40"), "the mean of the last evaluation"},
		"steps below 0":            {change(t, "steps", "-7"), "steps is -7"},
		"diverged behind the end":  {change(t, "diverged_at", "7"), "diverged_at is 7"},
		"diverged at no number":    {change(t, "diverged_at", "x"), "diverged_at: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(strings.NewReader(c.file))
			expect.Refusal(t, "parse", err, c.want)
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	other := three()
	other[1].Vary = nil
	expect.Refusal(t, "rows that vary different settings", Write(new(bytes.Buffer), other), "c1 varies []")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "results[1]") // which is no pattern
	empty := filepath.Join(dir, "empty")
	must.Do(t, os.Mkdir(odd, 0o777))
	must.Do(t, os.Mkdir(empty, 0o777))
	for _, name := range []string{"b.csv", "a.csv", "note.txt", "results[1]/a.csv"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(written(t, three())), 0o666))
	}
	for name, c := range map[string]struct {
		paths []string
		want  int
		err   string
	}{
		"a folder and a file":    {[]string{dir, filepath.Join(dir, "a.csv")}, 9, ""},
		"brackets in the name":   {[]string{odd}, 3, ""},
		"a folder without files": {[]string{empty}, 0, "no file that ends in .csv"},
		"nothing there":          {[]string{filepath.Join(dir, "none")}, 0, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Files(c.paths...)
			if len(all) != c.want {
				t.Errorf("%d rows; want %d", len(all), c.want)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("the error is %v; want %q", err, c.err)
			}
		})
	}
}
