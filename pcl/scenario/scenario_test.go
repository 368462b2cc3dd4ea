package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/must"
)

// emnist asks for PS-EMNIST with a label set and a timeline.
func emnist(labelset, timeline uint64) Options {
	return Options{
		Dataset: "emnist", Increment: "task", Kind: "parallel", Tasks: 5, MinClasses: 3, MaxClasses: 15,
		Batch: 128, Epochs: 1, LabelSet: labelset, Timeline: timeline,
	}
}

// perClass is as large and as unbalanced as EMNIST ByClass: ten digits of 34,500 images each, and
// letters of 2,000 to 25,000, together 730,000.
func perClass() []int {
	n := make([]int, 62)
	for c := range n {
		n[c] = 34500
		if c >= 10 {
			n[c] = 2000 + 23000*((c*7)%52)/52*((c*3)%52)/52
		}
	}
	return n
}

func generate(t rapid.TB, o Options, perClass []int) *Scenario {
	t.Helper()
	s := must.Get(Generate(o, perClass))(t)
	return s
}

// TestStatistics compares many generated situations with the ranges of docs/protocol.md §1.3.
func TestStatistics(t *testing.T) {
	const situations = 300
	inside, mostRows := 0, 0
	share := make([]float64, 8)
	for seed := range uint64(situations) {
		s := generate(t, emnist(seed, seed+1000), perClass())
		rows, steps := 0, s.LastStep()+1
		for step := range steps {
			k := s.rows(step)
			rows += k
			share[k] += 1 / float64(steps) / situations
		}
		if mean := float64(rows) / float64(steps); mean >= 1.9 && mean <= 3.5 {
			inside++
		}
		mostRows = max(mostRows, s.MaxStreams())
	}
	t.Logf("mean K within 1.9…3.5 in %d of %d situations, at most %d rows; share of the steps with K rows %.2f", inside,
		situations, mostRows, share)
	if mostRows > 6 {
		t.Errorf("up to %d rows; 5 tasks and the memory are 6", mostRows)
	}
	if inside < situations*3/4 {
		t.Errorf("the mean K is within 1.9…3.5 in %d of %d situations", inside, situations)
	}
	switch {
	case share[0] > 0:
		t.Errorf("share of the steps with K rows: share[0] is %g; want at most 0", share[0])
	case share[2] < share[1]:
		t.Errorf("share of the steps with K rows: share[2] is %g; want at least %g", share[2], share[1])
	case share[2] < share[4]:
		t.Errorf("share of the steps with K rows: share[2] is %g; want at least %g", share[2], share[4])
	case share[5] > 0.15:
		t.Errorf("share of the steps with K rows: share[5] is %g; want at most 0.15", share[5])
	}
}

// TestGolden holds one published situation still.
func TestGolden(t *testing.T) {
	o := emnist(1, 2)
	o.Tasks, o.MinClasses, o.MaxClasses = 3, 2, 4
	s := generate(t, o, []int{500, 100, 300, 900, 128, 256, 77, 1000})
	path := filepath.Join(t.TempDir(), "scenario.json")
	must.Do(t, s.Save(path))
	got := must.Get(os.ReadFile(path))(t)
	want := must.Get(os.ReadFile("testdata/scenario.json"))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the generator changed, and with it every published result:\n%s", diff)
	}
	back, err := Load("testdata/scenario.json")
	if err != nil || !reflect.DeepEqual(s, back) {
		t.Errorf("read back: %v\n%s", expect.Text(err), cmp.Diff(s, back))
	}
}

// TestEpochs checks that three epochs are the same situation, three times as long.
func TestEpochs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := emnist(rapid.Uint64().Draw(t, "labelset"), rapid.Uint64().Draw(t, "timeline"))
		o.Kind = rapid.SampledFrom([]string{"parallel", "serial", "all_at_once"}).Draw(t, "kind")
		one := generate(t, o, perClass())
		o.Epochs = 3
		for i, task := range generate(t, o, perClass()).Tasks {
			if want := one.Tasks[i]; task.Start != 3*want.Start || task.Steps != 3*want.Steps {
				t.Errorf("task %d starts at %d for %d steps; one epoch at %d for %d", i+1, task.Start, task.Steps, want.Start,
					want.Steps)
			}
		}
	})
}

// TestMaxStreams compares with counting at every step.
func TestMaxStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := emnist(rapid.Uint64().Draw(t, "labelset"), rapid.Uint64().Draw(t, "timeline"))
		o.Tasks, o.MinClasses, o.Batch = rapid.IntRange(1, 6).Draw(t, "tasks"), 1, 64
		o.Kind = rapid.SampledFrom([]string{"parallel", "serial", "all_at_once"}).Draw(t, "kind")
		s := generate(t, o, []int{70, 300, 64, 1, 200, 500})
		rows := 0
		for step := range s.LastStep() + 1 {
			rows = max(rows, s.rows(step))
		}
		if got := s.MaxStreams(); got != rows {
			t.Errorf("at most %d rows, counted %d", got, rows)
		}
	})
}

func TestGenerateRefuses(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"batch": func(o *Options) { o.Batch = 0 }, "epochs": func(o *Options) {
			o.Epochs = -1
		}, "kind": func(o *Options) { o.Kind = "both" },
		"increment": func(o *Options) { o.Increment = "" }, "tasks": func(o *Options) { o.Tasks = 63 },
	} {
		t.Run(name, func(t *testing.T) {
			o := emnist(0, 0)
			change(&o)
			if _, err := Generate(o, perClass()); err == nil {
				t.Error("no error")
			}
		})
	}
	_, err := Generate(emnist(0, 0), make([]int, 62))
	expect.Refusal(t, "Generate", err, "scenario: task 1: it has no training samples")
}

// TestValidate breaks a good scenario in every way.
func TestValidate(t *testing.T) {
	o := emnist(0, 0)
	o.Kind = "serial"
	for i, damage := range []func(s *Scenario){
		func(s *Scenario) { s.Schema = 2 }, func(s *Scenario) { s.Increment = "domain" }, func(s *Scenario) { s.Batch = -1 },
		func(s *Scenario) { s.Epochs = -1 }, func(s *Scenario) { s.Batch = 1 << 62 },
		func(s *Scenario) { s.Tasks = nil }, func(s *Scenario) {
			s.Tasks[1].Classes = nil
		}, func(s *Scenario) { s.Tasks[1].Classes[0] = -1 },
		func(s *Scenario) { s.Tasks[1].Classes = []int{7, 7} },
		func(s *Scenario) { s.Tasks[0].Train = -1 }, func(s *Scenario) { s.Tasks[0].Train = 1 << 62 },
		func(s *Scenario) { s.Tasks[0].Start = 1 << 20 }, func(s *Scenario) {
			s.Tasks[0].Start = -1
		}, func(s *Scenario) { s.Tasks[1].Start = -1 }, func(s *Scenario) { s.Tasks[1].Start = 1 << 62 },
		func(s *Scenario) { s.Tasks[1].Names = []string{"a"} },
		func(s *Scenario) { s.Tasks[1] = Task{Names: []string{"a", "a"}, Start: s.Tasks[1].Start} },
		func(s *Scenario) { s.Tasks[1].Parts = []Part{{0, 2}} },
		func(s *Scenario) {
			s.Tasks[1].Parts = make([]Part, len(s.Tasks[1].Classes))
			s.Tasks[1].Parts[0] = Part{0, -1}
		},
	} {
		s := generate(t, o, perClass())
		if damage(s); s.Validate() == nil {
			t.Errorf("damage %d: no error", i)
		}
		if _, err := s.Fill(o, perClass()); err == nil {
			t.Errorf("filled after damage %d: no error", i)
		}
	}
}

// TestFillRefuses: a scenario must agree with the data set and the options.
func TestFillRefuses(t *testing.T) {
	o := emnist(0, 0)
	for i, damage := range []func(s *Scenario){
		func(s *Scenario) { s.Batch = 1 }, func(s *Scenario) {
			s.Dataset = "digits"
		}, func(s *Scenario) { s.Tasks[0].Steps = 9 },
		func(s *Scenario) { s.Tasks[0].Train = 1 }, func(s *Scenario) { s.Tasks[0].Classes[0] = 62 },
	} {
		s := generate(t, o, perClass())
		damage(s)
		if _, err := s.Fill(o, perClass()); err == nil {
			t.Errorf("damage %d: no error", i)
		}
	}
	_, err := generate(t, o, perClass()).Fill(o, make([]int, 62))
	expect.Refusal(t, "Fill", err, "scenario: task 1: it has no training samples")
}

// TestLoad names the file, and the place in it that is wrong.
func TestLoad(t *testing.T) {
	good := must.Get(os.ReadFile("testdata/scenario.json"))(t)
	path := filepath.Join(t.TempDir(), "s.json")
	if _, err := Load(path); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	for new, place := range map[string]string{
		`"bacth": `: "bacth", `"tasks": [{"train": 1.5}], "batch": `: "tasks.0.train",
		`"Batch": 1, "batch": `: `"Batch" is not known`,
	} {
		t.Run(new, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, []byte(strings.Replace(string(good), `"batch": `, new, 1)), 0o644))
			_, err := Load(path)
			expect.Refusal(t, "Load", err, path, place)
		})
	}
}

// TestExplicitZero: a number that is 0 in a file is not one that is left out.
func TestExplicitZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	for text, want := range map[string]string{
		`{"schema": 1, "tasks": [{"classes": [0]}]}`:                                    "",
		`{"schema": 1, "batch": 8, "tasks": [{"classes": [0], "start": 0}]}`:            "",
		`{"schema": 1, "batch": 0, "tasks": [{"classes": [0]}]}`:                        `"batch" is 0; want a number above 0, or leave it out`,
		`{"schema": 1, "epochs": 0, "tasks": [{"classes": [0]}]}`:                       `"epochs" is 0`,
		`{"schema": 1, "tasks": [{"classes": [0]}, {"classes": [1], "train": 0}]}`:      `task 2: "train" is 0`,
		`{"schema": 1, "tasks": [{"classes": [0], "steps": 0}, {"classes": [1]}]}`:      `task 1: "steps" is 0`,
		`{"schema": 1, "tasks": [{"classes": [0]}, {"names": ["a", "a"], "start": 1}]}`: `it lists a class twice: ["a" "a"]`,
		`{"schema": 1, "tasks": [{"classes": [3, 3]}]}`:                                 `it lists a class twice: [3 3]`,
	} {
		t.Run(text, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
			if _, err := Load(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", expect.Text(err), want)
			}
		})
	}
}

// TestGaps: a timeline may have steps at which no stream runs. The updates pass over them.
func TestGaps(t *testing.T) {
	s := &Scenario{Schema: schema, Increment: "task", Batch: 1, Epochs: 1, Tasks: []Task{
		{Classes: []int{0}, Train: 3, Start: 2, Steps: 3}, // 2…4
		{Classes: []int{1}, Train: 2, Start: 3, Steps: 2}, // 3…4
		{Classes: []int{2}, Train: 1, Start: 5, Steps: 1}, // 5
		{Classes: []int{3}, Train: 2, Start: 9, Steps: 2}, // 9…10
	}}
	must.Do(t, s.Validate())
	var at []int
	for updates := range s.TrainingSteps() + 1 {
		at = append(at, s.StepAfter(updates))
	}
	if want := []int{2, 3, 4, 5, 9, 10, 11}; !slices.Equal(at, want) || s.LastStep() != 10 {
		t.Errorf("the updates are at %v; want %v", at, want)
	}
	whole := generate(t, emnist(1, 1), perClass())
	for _, updates := range []int{0, 1, whole.LastStep(), whole.LastStep() + 1} {
		t.Run(fmt.Sprint(updates), func(t *testing.T) {
			if whole.StepAfter(updates) != updates {
				t.Errorf("without gaps, update %d is at step %d", updates, whole.StepAfter(updates))
			}
		})
	}
	if whole.TrainingSteps() != whole.LastStep()+1 {
		t.Errorf("%d training steps, the last is %d", whole.TrainingSteps(), whole.LastStep())
	}
}

// TestFill: a scenario that leaves out all that can be left out becomes the one that says it.
func TestFill(t *testing.T) {
	o := emnist(1, 2)
	full := generate(t, o, perClass())
	open := &Scenario{Schema: schema, LabelSet: full.LabelSet, Timeline: full.Timeline}
	for _, task := range full.Tasks {
		open.Tasks = append(open.Tasks, Task{Classes: task.Classes, Start: task.Start})
	}
	path := filepath.Join(t.TempDir(), "open.json")
	must.Do(t, open.Save(path))
	open = must.Get(Load(path))(t)
	if got, err := open.Fill(o, perClass()); err != nil || !reflect.DeepEqual(got, full) {
		t.Errorf("%v: %s", expect.Text(err), cmp.Diff(got, full))
	}
	o.ClassNames = strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "")
	named := *open
	named.Tasks = slices.Clone(open.Tasks)
	for i, task := range named.Tasks {
		named.Tasks[i].Classes = nil
		for _, c := range task.Classes {
			named.Tasks[i].Names = append(named.Tasks[i].Names, o.ClassNames[c])
		}
	}
	switch got, err := named.Fill(o, perClass()); {
	case named.Validate() != nil:
		t.Errorf("by names: %v", named.Validate())
	case err != nil:
		t.Errorf("by names: %v", err)
	case !reflect.DeepEqual(got, full):
		t.Errorf("by names: got is %v; want %v", got, full)
	}
	named.Tasks[1].Names = []string{"?"}
	_, err := named.Fill(o, perClass())
	expect.Refusal(t, "Fill", err, `scenario: task 2: the data set has no class "?"; it has`)
	o.Increment = "class"
	if got, err := open.Fill(o, perClass()); err != nil || got.Increment != "class" {
		t.Errorf("in the other increment: %v", expect.Text(err))
	}
	if _, err := full.Fill(o, perClass()); err == nil {
		t.Errorf("error %v", expect.Text(err))
	}
	_, err = open.Fill(o, perClass()[:3])
	expect.Refusal(t, "Fill", err, "scenario: task 1: it has class 58, the data set 3 classes")
}

// FuzzParse reads arbitrary text; what passes has no overflow, and survives being saved.
func FuzzParse(f *testing.F) {
	good, err := os.ReadFile("testdata/scenario.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(
		[]byte(
			`{"schema":1,"increment":"task","batch":1,"epochs":2147483648,"tasks":[{"classes":[0],"train":1,"steps":2147483648}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(Scenario)
		if jsonin.Unmarshal(data, s) != nil || s.Validate() != nil {
			return
		}
		for i, task := range s.Tasks {
			switch {
			case task.Steps < 0:
				t.Errorf("task %d: task.Steps is %d; want at least 0", i+1, task.Steps)
			case task.Start < 0:
				t.Errorf("task %d: task.Start is %d; want at least 0", i+1, task.Start)
			case task.Steps > 0 && (task.End() < task.Start || s.rows(task.Start) < 1):
				t.Errorf("task %d: %+v", i+1, task)
			}
		}
		switch k := s.MaxStreams(); {
		case k < 0:
			t.Errorf("k is %d; want at least 0", k)
		case k > len(s.Tasks)+1:
			t.Errorf("k is %d; want at most %d", k, len(s.Tasks)+1)
		case s.StepAfter(s.TrainingSteps()) < s.TrainingSteps():
			t.Errorf("%d rows of %d tasks", k, len(s.Tasks))
		}
		path := filepath.Join(t.TempDir(), "s.json")
		must.Do(t, s.Save(path))
		if back, err := Load(path); err != nil || !reflect.DeepEqual(s, back) {
			t.Errorf("saved and read back: %v\n%s", expect.Text(err), cmp.Diff(s, back))
		}
	})
}

// TestNamesInTwoForms: a class that the data set has in the other form of Unicode is named in both.
func TestNamesInTwoForms(t *testing.T) {
	o := Options{Dataset: "d", Increment: "class", Batch: 8, Epochs: 1, ClassNames: []string{"caf\u00e9", "eau"}}
	s := &Scenario{Schema: schema, Tasks: []Task{{Names: []string{"cafe\u0301"}}}}
	_, err := s.Fill(o, []int{10, 10})
	expect.Refusal(t, "Fill", err, `"cafe\u0301" and "caf\u00e9" are one name in two forms of Unicode`)
}
