package report

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

func TestClassTables(t *testing.T) {
	run := func(seed uint64, acc float64) runPtr {
		return &results.Run{Method: "er", MethodTitle: "ER", Dataset: "folder:pets", Seed: seed, Tasks: []results.Task{{
			ID: 1, Classes: []int{4, 7}, Names: []string{"cat", "dog"},
			ByClass: []results.Class{{Class: 4, Test: 10, AccEnd: 1, AccFinal: acc}, {Class: 7, Test: 20, AccEnd: 1, AccFinal: 0.5}},
		}}}
	}
	runs := []runPtr{run(1, 0.25), run(2, 0.75)}
	tables := func() []classTable { return newClassTables(must.Get(viz.Groups(runs))(t)) }
	got := tables()
	if len(got) != 1 || got[0].Classes[1] != "dog" || got[0].Test[1] != 20 || len(got[0].Rows) != 1 {
		t.Fatalf("%+v", got)
	}
	if cat := got[0].Rows[0].Final[0]; cat.Text != "50.0 ±\u00a025.0" || got[0].Rows[0].End[0].Value != 100 {
		t.Errorf("the accuracy of cats is %v", cat)
	}
	runs[1].Tasks[0].Classes = []int{4, 8}
	if got := tables(); got != nil {
		t.Errorf("runs with different classes in one table: %v", got)
	}
	runs = []runPtr{{Method: "er", Tasks: []results.Task{{ID: 1, Classes: []int{1}}}}} // of an older program
	if got := tables(); got != nil {
		t.Error(got)
	}
}
