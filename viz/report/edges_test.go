package report

import (
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// brief is a run of some tasks, one after the other.
func brief(method, title string, tasks int, params map[string]any) *results.Run {
	r := &results.Run{ID: title, Method: method, MethodTitle: title, Params: params, Dataset: "d", Increment: "task", A: 50, Config: []byte(`{}`)}
	for i := range tasks {
		r.Tasks = append(r.Tasks, results.Task{ID: i + 1, Start: 10 * i, End: 10*i + 9, AccEnd: .5, AccFinal: .5})
	}
	return r
}

// TestTasksThatARunLacks: a task that a run does not have has no accuracy, which is not one of 0.
func TestTasksThatARunLacks(t *testing.T) {
	runs := []runPtr{brief("er", "ER", 2, nil), brief("mgda", "MGDA", 3, nil)}
	tasks := newTaskTable(must.Get(viz.Groups(runs))(t))
	if len(tasks.Tasks) != 3 || tasks.Rows[0].Final[2].Text != "–" || tasks.Rows[1].Final[2].Text != "50.0" {
		t.Errorf("tasks %v with %v", tasks.Tasks, tasks.Rows)
	}
}

// TestRunsThatAreThereTwice: a run with the settings, seed and network of another is counted once, and one with another
// network is told.
func TestRunsThatAreThereTwice(t *testing.T) {
	run := func(seed uint64, network, config string) RunFile {
		r := brief("er", "ER", 2, nil)
		r.Seed, r.ModelSHA256, r.Config = seed, network, []byte(config)
		return RunFile{Run: r}
	}
	files := []RunFile{
		run(1, "a", `{"eval_every":0}`), run(2, "b", `{"eval_every":0}`), run(1, "a", `{"eval_every":3}`), run(2, "c", `{"eval_every":0}`),
	}
	files[2].Run.Curve = make([]results.Point, 3)
	kept, told := once(files)
	if len(kept) != 3 || len(kept[0].Run.Curve) != 3 || len(told) != 2 || !strings.Contains(told[0].Text, "counted once") || !strings.Contains(told[1].Text, "another network") {
		t.Errorf("%d runs are kept: %v", len(kept), told)
	}
	other := run(1, "d", `{"scenario":{"tasks":[{"start":3}]}}`)
	if a, b := situationOf(files[0].Run), situationOf(other.Run); a == b || len(must.Get(settingsOf([]RunFile{files[0], other}))(t)) != 2 {
		t.Errorf("a scenario that was written by hand counts as %v, beside %v", b, a)
	}
}

// TestColoursOfTableAndFigure: two settings of one method have the colours in the table that they have in the figures.
func TestColoursOfTableAndFigure(t *testing.T) {
	runs := []runPtr{brief("emgd-gmc", "EMGD", 2, map[string]any{"tau": 1.0}), brief("emgd-gmc", "EMGD", 2, map[string]any{"tau": 5.0})}
	runs[1].ID = "other"
	groups := must.Get(viz.Groups(runs))(t)
	table, c := newResultTable(groups), viz.Styles(groups)[1].CSS()
	if second := string(table.Rows[1].Swatch); !strings.Contains(second, c) || table.Rows[0].Swatch == table.Rows[1].Swatch {
		t.Errorf("the second has %v in figures and %v in the table", c, second)
	}
}

// TestRecordsBeyondProportion: a record whose slack no gradient of its could have is shown as a failure.
func TestRecordsBeyondProportion(t *testing.T) {
	tiny := results.Record{
		IDs: []int{1, 2}, Gram: []float64{1e-320, 0, 0, 1e-320}, Weights: []float64{.5, .5}, Lambda: []float64{.5, .5},
		Sigma: []float64{.5, .5}, Slacks: []float64{-1e300, 0},
	}
	s := newStepsSection(brief("emgd-gmc", "EMGD", 2, nil), "EMGD", []results.Record{tiny})
	if !strings.Contains(s.Certificate, "0.00 %") || !strings.Contains(s.Certificate, "the lowest slack is −∞") {
		t.Error(s.Certificate)
	}
	if f := s.Figures[0]; !strings.Contains(f.Note, "Left out") {
		t.Errorf("%s: %s", f.Title, f.Note)
	}
	if got := scientific(math.NaN()) + scientific(math.Inf(1)) + scientific(-3e-16); got != "–∞−3·10⁻¹⁶" {
		t.Error(got)
	}
}

// TestHowTasksCome: the text under a timeline says what is in it.
func TestHowTasksCome(t *testing.T) {
	serial, parallel, together := brief("er", "ER", 2, nil), brief("er", "ER", 2, nil), brief("er", "ER", 2, nil)
	parallel.Tasks[1].Start = 5
	together.Tasks[1].Start = 0
	together.Tasks[0].End = together.Tasks[1].End
	forgetful := brief("er", "ER", 2, nil)
	forgetful.Config = []byte(`{"memory":{"budget":0}}`)
	rehearsed := ", and rehearsal of finished tasks starts at the first task's end."
	for want, r := range map[string]*results.Run{
		"The tasks come one after the other" + rehearsed: serial, "The tasks come one after the other.": forgetful,
		"All tasks begin together.": together, "Look at the overlaps: a new task joins while others are still in training" + rehearsed: parallel,
	} {
		if got := howTasksCome(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRanksNeedSituations: methods are ranked where the tests of their pairs could tell them apart.
func TestRanksNeedSituations(t *testing.T) {
	for seeds, want := range map[uint64]int{3: 0, 9: 1} {
		var files []RunFile
		for seed := range seeds {
			for i, method := range []string{"er", "mgda", "avggrad", "emgd-gmc", "pcgrad"} {
				r := brief(method, method, 2, nil)
				r.Seed, r.A = seed, float64(50+i)
				files = append(files, RunFile{Run: r})
			}
		}
		if got := acrossSettings(files, nil); len(got) != want {
			t.Errorf("%d figures of %d seeds, want %d", len(got), seeds, want)
		}
	}
}
