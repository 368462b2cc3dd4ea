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
)

func three() []*Row {
	done := &Row{
		Grid: "g-full", Title: "=A, with a comma", Paper: "Table 1", Size: "full", Dataset: "D (half)", PaperDataset: "D", Method: "M",
		PaperMethod: "M", Increment: "class", Vary: []Setting{{"batch", "8"}, {"params.tau", "inf"}},
		LabelSet: 1, Timeline: 2, Seed: math.MaxUint64, Cell: "c0", Program: "p", State: Done,
		Result: Result{
			A: 100.0 / 3, F: -1e-17, AFirst: 100.0 / 3, Ends: []float64{50, 33.333}, Steps: 7, Diverged: "0", Skipped: 2, Seconds: 3.5,
			TrainSeconds: 2, EvalSeconds: 1, StepMillis: 0.1, Backend: "go", Device: "a \"fast\" one", Threads: 3, Version: "v1",
			Commit: "abc", Run: "r", RunMethod: "m", RunVariant: "edit", Model: "0f",
		},
	}
	failed := *done
	failed.Cell, failed.State, failed.Reason, failed.Result = "c1", Failed, "no\nroom", Result{}
	missing := failed
	missing.Cell, missing.State, missing.Reason = "c2", Missing, ""
	return []*Row{done, &failed, &missing}
}

func TestRoundTrip(t *testing.T) {
	all := three()
	var file bytes.Buffer
	if err := Write(&file, all); err != nil {
		t.Fatal(err)
	}
	back, err := parse(&file)
	if err != nil || len(back) != 3 {
		t.Fatalf("%d rows (%v)", len(back), err)
	}
	if !reflect.DeepEqual(back[0], all[0]) {
		t.Errorf("came back as %+v,\nwas %+v", back[0], all[0])
	}
	if r := back[1]; r.State != Failed || r.Reason != "no\nroom" || !math.IsNaN(r.A) || r.Model != "" {
		t.Errorf("the failed one came back as %+v", r)
	}
	if back[0].Line() != "M, batch=8, params.tau=inf" {
		t.Errorf("its line is %q", back[0].Line())
	}
}

func TestReadRefuses(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, three()); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{"model_sha256", "model"}, {"done", "nearly"}, {"18446744073709551615", "one"}} {
		if _, err := parse(strings.NewReader(strings.Replace(file.String(), change[0], change[1], 1))); err == nil {
			t.Errorf("with %v it is read", change)
		}
	}
	at := slices.Index(strings.Split(strings.SplitN(file.String(), "\n", 2)[0], ","), "A")
	for _, value := range []string{"NaN", "+Inf", "1e999"} {
		lines := strings.SplitN(file.String(), "\n", 3)
		cells := strings.Split(lines[1], ",")
		cells[at] = value
		lines[1] = strings.Join(cells, ",")
		if _, err := parse(strings.NewReader(strings.Join(lines, "\n"))); err == nil {
			t.Errorf("with an accuracy of %s: %v", value, err)
		}
	}
	wider := "lines," + strings.ReplaceAll(strings.TrimSpace(file.String()), "\n", "\n1,")
	if _, err := parse(strings.NewReader(wider)); err == nil {
		t.Errorf("with a column that another version wrote: %v", err)
	}
	other := three()
	other[1].Vary = nil
	if err := Write(&file, other); err == nil {
		t.Error("rows that vary different settings were written")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var file bytes.Buffer
	if err := Write(&file, three()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b.csv", "a.csv", "note.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := Files(dir, filepath.Join(dir, "a.csv")); err != nil || len(all) != 9 {
		t.Errorf("%d rows (%v)", len(all), err)
	}
	odd := filepath.Join(dir, "results[1]") // which is no pattern
	if err := os.Rename(filepath.Join(dir, "a.csv"), filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(odd, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Files(odd); err == nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.Rename(filepath.Join(dir, "c"), filepath.Join(odd, "a.csv")); err != nil {
		t.Fatal(err)
	}
	if all, err := Files(odd); err != nil || len(all) != 3 {
		t.Errorf("a folder with brackets in its name: %d rows (%v)", len(all), err)
	}
}

// TestReadRefusesHalfResults: a result without its accuracy is none, and accuracies at tasks' ends are numbers, too.
func TestReadRefusesHalfResults(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, three()[:1]); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ column, value string }{
		{"A", ""}, {"F", ""}, {"A_first", ""}, {"ends", "50 NaN"}, {"ends", "-Inf"},
		{"A", "3_3.3"}, {"A", "-5"}, {"A", "101"}, {"F", "3"}, {"steps", "-7"},
		{"ends", "50 40"}, {"diverged_at", "7"}, {"diverged_at", "x"},
	} {
		changed := slices.Clone(lines[1])
		changed[slices.Index(lines[0], c.column)] = c.value
		var text bytes.Buffer
		if err := csv.NewWriter(&text).WriteAll([][]string{lines[0], changed}); err != nil {
			t.Fatal(err)
		}
		if _, err := parse(&text); err == nil {
			t.Errorf("%s may be %q", c.column, c.value)
		}
	}
}
