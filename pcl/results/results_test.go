package results

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// worked is a run of two tasks with all kinds of fields set.
func worked() *Run {
	then, acc := 0.5, 0.75
	return &Run{
		Schema: schema,
		ID:     IDOf([]byte(`{"method":"emgd-gmc","params":{"momentum":0.5,"tau":"1"},"dataset":"glyphs","seed":1234}`)),
		Method: "emgd-gmc", MethodTitle: "EMGD (GMC)",
		Params: map[string]any{"tau": "1", "momentum": 0.5}, Dataset: "glyphs", Increment: "task", Seed: 1234,
		Config: json.RawMessage(`{"method":"emgd-gmc","params":{"momentum":0.5,"tau":"1"},"dataset":"glyphs","seed":1234}`),
		Steps:  9,
		Tasks: []Task{{ID: 1, Classes: []int{3, 0}, End: 5, Train: 48, Test: 8, AccEnd: then, AccFinal: acc},
			{ID: 2, Classes: []int{1}, Start: 4, End: 8, AccEnd: acc, AccFinal: acc}},
		A: 75, F: 12.5, AFirst: 62.5,
		Curve: []Point{{Step: 5, Ended: []int{1}, Acc: []*float64{&then, nil}, Mean: then},
			{Step: 8, Ended: []int{2}, Acc: []*float64{&acc, &acc}, Mean: acc}},
		PerK: []KStat{{K: 1, Steps: 9, SumW: Moment{N: 9, Mean: 1, Min: 1, Max: 1}}},
	}
}

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	want := worked()
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	got.Config, want.Config = nil, nil // indented in the file
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON": "A_e: 52.8", "cut off": `{"schema":1,"tasks":[{"id":`, "schema": `{"schema":2,"tasks":[{"id":1}]}`,
		"no tasks": `{"schema":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			expect.Refusal(t, "Load", err, path)
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestDerived: a file in which something is false that follows from the rest of it is refused, by
// what is false; a run without a configuration, such as a row that was added by hand, is read and
// marked.
func TestDerived(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		change func(r *Run)
		want   string
	}{
		"as it was": {func(r *Run) { r.ModelSHA256, r.MemorySHA256 = hash, hash }, ""},
		"by hand":   {func(r *Run) { r.ID, r.Config, r.Method = "paper", nil, "mgda" }, ""},
		"by hand, an object": {func(r *Run) {
			r.ID, r.Config = "paper", json.RawMessage(`{"source":"table 3"}`)
		}, ""},
		"another id": {func(r *Run) { r.ID = "0123456789ab" }, `its id is "0123456789ab"`},
		"another configuration": {func(r *Run) {
			r.Config = json.RawMessage(strings.Replace(string(r.Config), "1234", "1235", 1))
		}, "its id is"},
		"another method": {func(r *Run) {
			r.Method = "mgda"
		}, `its method is "mgda", and in its configuration "emgd-gmc"`},
		"another parameter": {func(r *Run) { r.Params["tau"] = "2" }, `its params.tau is "2"`},
		"a parameter more":  {func(r *Run) { r.Params["floor"] = 0.5 }, `its params.floor is "0.5"`},
		"a parameter less": {func(r *Run) {
			delete(r.Params, "tau")
		}, `its configuration has params.tau "1", which it lacks`},
		"another data set":   {func(r *Run) { r.Dataset = "emnist" }, `its dataset is "emnist"`},
		"another seed":       {func(r *Run) { r.Seed = 1 }, `its seed is "1"`},
		"a hash of a model":  {func(r *Run) { r.ModelSHA256 = "best" }, `model_sha256 "best"`},
		"a hash of a memory": {func(r *Run) { r.MemorySHA256 = hash[1:] }, "is not a checksum"},
		"another mean at the ends": {func(r *Run) {
			r.AFirst, r.F = 65, 10
		}, "A_first is 65, and the mean of acc_end 62.5"},
		"another mean in between": {func(r *Run) { r.Curve[0].Mean = 0.6 }, "the evaluation at step 5 has mean 0.6"},
		"another accuracy at an end": {func(r *Run) {
			r.Curve[0].Acc[0], r.Curve[0].Mean = new(0.6), 0.6
		}, "the evaluation at step 5, where task 1 ends"},
		"a task that never ran": {func(r *Run) { r.Curve[0].Ended = []int{3} }, "where task 3 ends"},
		"accuracies of its classes": {func(r *Run) {
			r.Tasks[0].ByClass = []Class{{3, 4, 0.5, 1}, {0, 4, 0.5, 1}}
		}, "not the means of those of its classes"},
		"accuracies of other classes": {func(r *Run) {
			r.Tasks[0].ByClass = []Class{{3, 4, 0.5, 0.75}, {1, 4, 0.5, 0.75}}
		}, "in the place of class 0"},
		"its classes": {func(r *Run) { r.Tasks[0].ByClass = []Class{{3, 4, 0.25, 0.5}, {0, 4, 0.75, 1}} }, ""},
		"more steps by rows": {func(r *Run) {
			r.PerK[0].Steps, r.PerK[0].SumW.N = 12, 12
		}, "per_k counts 12 steps; the run made 9"},
		"other sums of weights": {func(r *Run) { r.PerK[0].SumW.N = 8 }, "9 steps of 1 rows, and 8 sums"},
	} {
		t.Run(name, func(t *testing.T) {
			r, path := worked(), filepath.Join(t.TempDir(), "run.json")
			if c.change(r); r.Save(path) != nil {
				t.Fatal("it was not saved")
			}
			got, err := Load(path)
			if (err == nil) != (c.want == "") ||
				err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
				t.Errorf("error %v, want %q", expect.Text(err), c.want)
			}
			if err == nil && (len(got.Remarks()) > 0) != strings.HasPrefix(name, "by hand") {
				t.Errorf("it is remarked that %q", got.Remarks())
			}
		})
	}
}

// TestSpecialFiles: anything but a file is refused at once where a result or its records are
// expected.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{ResultFile, RecordsFile} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(filepath.Join(dir, ResultFile))
	expect.Refusal(t, "a result", err, "a folder")
	_, err = (File{Path: filepath.Join(dir, ResultFile)}).ReadRecords()
	expect.Refusal(t, "records", err, "a folder")
}

// TestOneSpelling: a key in another case does not win over the right one, and none is there twice.
func TestOneSpelling(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	if err := worked().Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for more, want := range map[string]bool{`"a": 99,`: true, `"METHOD": "mgda",`: true, `"later": [null],`: true,
		`"A": 75,`: false, `"later": "\udc00",`: false, "\"later\": \"\xff\",": false} {
		t.Run(more, func(t *testing.T) {
			r, err := parse([]byte("{" + more + string(text[1:])))
			if (err == nil) != want || err == nil && (r.A != 75 || r.Method != "emgd-gmc") {
				t.Error(expect.Text(err))
			}
		})
	}
}

// TestCheck: numbers that no run has, or that contradict each other, are neither written nor read.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(r *Run){
		"A is not a number":         func(r *Run) { r.A = math.NaN() },
		"A beyond 100":              func(r *Run) { r.A, r.AFirst = 101, 88.5 },
		"F of another A":            func(r *Run) { r.F = 30 },
		"negative steps":            func(r *Run) { r.Steps = -9 },
		"diverged behind the end":   func(r *Run) { r.DivergedAt = new(9) },
		"a task that is missing":    func(r *Run) { r.Tasks = r.Tasks[:1] },
		"a task twice":              func(r *Run) { r.Tasks[1].ID = 1 },
		"an accuracy beyond 1":      func(r *Run) { r.Tasks[0].AccFinal = 1.5 },
		"evaluations out of order":  func(r *Run) { r.Curve[1].Step = 2 },
		"accuracies of three tasks": func(r *Run) { r.Curve[1].Acc = append(r.Curve[1].Acc, new(0.75)) },
	} {
		t.Run(name, func(t *testing.T) {
			r, path := worked(), filepath.Join(t.TempDir(), "run.json")
			if change(r); r.Save(path) == nil {
				t.Error("it was saved")
			}
			if text, err := json.Marshal(r); err == nil {
				if _, err := parse(text); err == nil {
					t.Error("it was read")
				}
			}
		})
	}
}

func TestReadRecords(t *testing.T) {
	want := []Record{
		{Step: 0, IDs: []int{1}, Losses: []float64{2.5}, Weights: []float64{1}},
		{Step: 1, IDs: []int{0, 1}, Losses: []float64{2, 1}, Gram: []float64{18, -22, -22, 38}, Weights: []float64{.6, .4},
			Lambda: []float64{.6, .4}, NormD: 1.5},
	}
	var text strings.Builder
	for _, r := range want {
		if err := json.NewEncoder(&text).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadRecords(strings.NewReader(text.String()))
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v\n%s", expect.Text(err), cmp.Diff(want, got))
	}
	_, err = ReadRecords(strings.NewReader(text.String() + `{"step":2,`))
	expect.Refusal(t, "half a line", err, "record line 3: the JSON text ends in the middle of a value")
	_, err = ReadRecords(strings.NewReader(
		`{"ids":[1,2],"losses":[1,2],"weights":[1,2],"gram":[1,0,1]}`))
	expect.Refusal(t, "ReadRecords", err, "record line 1: gram has 3 numbers for 2 rows; want 4")
	if none, err := ReadRecords(strings.NewReader("")); err != nil || none != nil {
		t.Errorf("an empty file: %v, %v", none, expect.Text(err))
	}
}

// TestMoment compares Welford's sums with the plain ones.
func TestMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "x")
		var m Moment
		sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
		for _, v := range x {
			m.Add(v)
			sum, least, most = sum+v, min(least, v), max(most, v)
		}
		mean, variance := sum/float64(len(x)), 0.0
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(len(x))
		}
		switch {
		case m.N != len(x):
			t.Fatalf("m.N is %d; want %d", m.N, len(x))
		case math.Abs(m.Mean-mean) > 1e-6:
			t.Fatalf("math.Abs(m.Mean-mean) is %g; want at most 1e-6", math.Abs(m.Mean-mean))
		case math.Abs(m.Std()-math.Sqrt(variance)) > 1e-6*(1+math.Sqrt(variance)):
			t.Fatalf("math.Abs(m.Std()-math.Sqrt(variance)) is %g; want at most %g", math.Abs(m.Std()-math.Sqrt(variance)),
				1e-6*(1+math.Sqrt(variance)))
		case m.Min != least:
			t.Fatalf("m.Min is %g; want %g", m.Min, least)
		case m.Max != most:
			t.Fatalf("m.Max is %g; want %g", m.Max, most)
		}
	})
	if (Moment{}).Std() != 0 {
		t.Error("the deviation of nothing is not 0")
	}
}

func TestGroup(t *testing.T) {
	configs := []string{
		`{"method":"mgda","seed":1,"labelset":9007199254740993}`,
		`{"seed": 2, "labelset": 9007199254740993, "method": "mgda"}`, // another seed, other layout
		`{"method":"mgda","seed":1,"labelset":9007199254740992}`,      // differs beyond float64
		`{"method":"sum","seed":1,"labelset":0}`,
		`null`, ``, `[1]`, // unknown: each alone
	}
	var runs []*Run
	for i, c := range configs {
		runs = append(runs, &Run{ID: string(rune('a' + i)), Config: json.RawMessage(c), A: float64(10 * (i + 1))})
	}
	var got []string
	groups := Group(runs)
	for _, g := range groups {
		ids := ""
		for _, r := range g.Runs {
			ids += r.ID
		}
		got = append(got, ids)
	}
	if diff := cmp.Diff([]string{"ab", "c", "d", "e", "f", "g"}, got); diff != "" {
		t.Error(diff)
	}
	a := groups[0].Moment(func(r *Run) float64 { return r.A })
	switch {
	case a.N != 2:
		t.Errorf("A over the group: a.N is %d; want 2", a.N)
	case a.Mean != 15:
		t.Errorf("A over the group: a.Mean is %g; want 15", a.Mean)
	case a.Std() != 5:
		t.Errorf("A over the group: a.Std() is %g; want 5", a.Std())
	}
}

func TestLabel(t *testing.T) {
	if got, want := (RunGroup{Runs: []*Run{worked()}}).Label(), "emgd-gmc momentum=0.5 tau=1"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
}

// TestReadLongRecords: a step of many rows has a long line, because of its Gram matrix.
func TestReadLongRecords(t *testing.T) {
	const rows = 600
	r := Record{IDs: make([]int, rows), Gram: slices.Repeat([]float64{1. / 3}, rows*rows)}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecords(bytes.NewReader(append(line, '\n')))
	switch {
	case err != nil:
		t.Errorf("%d records of a line of %d bytes: %v", len(got), len(line), err)
	case len(got) != 1:
		t.Errorf("%d records of a line of %d bytes: len(got) is %d; want 1", len(got), len(line), len(got))
	case len(got[0].Gram) != rows*rows:
		t.Errorf("%d records of a line of %d bytes: len(got[0].Gram) is %d; want %d", len(got), len(line),
			len(got[0].Gram), rows*rows)
	}
}

// TestNamesOfTasks: a name, a number where there is none, and both where tasks share a name.
func TestNamesOfTasks(t *testing.T) {
	for want, names := range map[string][]string{
		"task 1; task 2":                           {"", " \t"},
		"digits; letters":                          {"digits", " letters\n"},
		"digits (task 1); digits (task 2); x":      {"digits", "digits", "x"},
		"task 1; task 2 (task 2); task 2 (task 3)": {"", "", "task 2"},
	} {
		t.Run(want, func(t *testing.T) {
			run := &Run{}
			for i, name := range names {
				run.Tasks = append(run.Tasks, Task{ID: i + 1, Name: name})
			}
			if got := strings.Join(run.TaskNames(), "; "); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
