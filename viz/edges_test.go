package viz

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestRunsOfOtherLengths: the axis of task ends goes as far as the run with the most tasks.
func TestRunsOfOtherLengths(t *testing.T) {
	short, long := twoTasks(), twoTasks()
	long.ID, long.Method, long.MethodTitle = "long", "er", "ER"
	long.Tasks = append(long.Tasks, results.Task{ID: 3, Start: 2, End: 9})
	short.Curve = []results.Point{{Step: 3, Ended: []int{1}, Mean: .5}, {Step: 7, Ended: []int{2}, Mean: .6}}
	long.Curve = append(slices.Clone(short.Curve), results.Point{Step: 9, Ended: []int{3}, Mean: .7})
	f, err := LearningProcess(short, long)
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Rows[0][0]; p.X.Max < 3 {
		t.Errorf("the axis ends at %v, and there is a third task's end", p.X.Max)
	}
}

// TestLevelsHaveTheirOwnNames: the level of the automatic temperature is told from the line of the
// fixed ones.
func TestLevelsHaveTheirOwnNames(t *testing.T) {
	var runs []*results.Run
	for i, tau := range []any{1.0, 5.0, "auto"} {
		r := *twoTasks()
		r.ID, r.Method, r.MethodTitle, r.Params = fmt.Sprint("run", i), "emgd-gmc", "EMGD (GMC)", map[string]any{"tau": tau}
		r.Config = json.RawMessage(`{}`)
		runs = append(runs, &r)
	}
	f, err := Temperature(runs...)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case len(f.Key) != 2:
		t.Errorf("%d entries in the key: len(f.Key) is %d; want 2", len(f.Key), len(f.Key))
	case f.Key[1].Label != "EMGD (GMC) tau=auto":
		t.Errorf("%d entries in the key: f.Key[1].Label is %q; want %q", len(f.Key), f.Key[1].Label, "EMGD (GMC) tau=auto")
	case f.Key[0].Line.Color == f.Key[1].Line.Color:
		t.Errorf("%d entries in the key: f.Key[0].Line.Color and f.Key[1].Line.Color are both %v", len(f.Key),
			f.Key[0].Line.Color)
	}
	if f.Key[0].Glyph.Shape == nil || f.Key[1].Glyph.Shape != nil {
		t.Error("the key has a marker for the level, which has none, or none for the line")
	}
}
