package viz

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
)

func ofIDs(ids ...int) results.Record { return results.Record{IDs: ids} }

// streamsIn returns the streams of records, whose steps are in order.
func streamsIn(t *testing.T, records []results.Record) *streams {
	t.Helper()
	for i := range records {
		records[i].Step = i
	}
	s, err := streamsOf(records)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStreamNames(t *testing.T) {
	for _, c := range []struct {
		records []results.Record
		want    []string
	}{
		{[]results.Record{ofIDs(2, 1), ofIDs(0, 2)}, []string{"memory", "task 1", "task 2"}},
		{[]results.Record{ofIDs(1), ofIDs(0, -1, 2)}, []string{"memory", "stored logits", "task 1", "task 2"}},
		{[]results.Record{ofIDs(-1, 2), ofIDs(-1, -2, 3)},
			[]string{"memory of task 1", "memory of task 2", "task 2", "task 3"}},
		{[]results.Record{ofIDs(-1, 2)}, []string{"memory", "task 2"}},
		{[]results.Record{ofIDs(0, rehearsal.PenaltyID, 2)}, []string{"memory", "penalty", "task 2"}},
		{[]results.Record{ofIDs(-3, rehearsal.PenaltyID, 2)}, []string{"memory", "penalty", "task 2"}},
		{[]results.Record{ofIDs(0, -1, -2, 2)}, []string{"memory", "stored logits", "memory, row 3", "task 2"}},
	} {
		if got := streamsIn(t, c.records).names(); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.records, got, c.want)
		}
	}
}

// No two rows of a figure look alike, and the memory of a task has the colour of that task.
func TestStreamsStandApart(t *testing.T) {
	for _, records := range [][]results.Record{
		{ofIDs(0, -1, rehearsal.PenaltyID, 1, 2)},
		{ofIDs(-1, 2, 3), ofIDs(-1, -2, -3, rehearsal.PenaltyID, 4)},
	} {
		rows, seen := streamsIn(t, records), map[string]int{}
		for _, id := range rows.ids {
			style := rows.style(id)
			look := fmt.Sprint(style.Color, style.Dashes)
			if other, ok := seen[look]; ok {
				t.Errorf("rows %d and %d look alike", id, other)
			}
			seen[look] = id
		}
		if n := len(rows.key()); n != len(rows.ids) {
			t.Errorf("the key names %d of %d rows", n, len(rows.ids))
		}
	}
	apart := streamsIn(t, []results.Record{ofIDs(-1, -2, 2, 3)})
	if apart.color(-2) != apart.color(2) {
		t.Error("task 2 and its memory have different colours")
	}
}

// A run whose rule sees several rows of the memory has all figures that others have.
func TestFiguresOfSeveralMemoryRows(t *testing.T) {
	for name, ids := range map[string][]int{
		"rows=apart": {0, -1, 2}, "per-task": {-1, -2, 3}, "penalty": {0, rehearsal.PenaltyID, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var records []results.Record
			for step := range 3 {
				r := exact()
				r.Step, r.IDs, r.Weights = step, ids, r.Lambda
				records = append(records, r)
			}
			want := streamsIn(t, records).name(ids[1])
			for _, draw := range []func() (*Figure, error){
				func() (*Figure, error) { return Conflicts(records) },
				func() (*Figure, error) { return Certificates(records) },
				func() (*Figure, error) { return StreamWeights(records) },
			} {
				f, err := draw()
				if err != nil {
					t.Error(err)
					continue
				}
				named := slices.ContainsFunc(f.Data.Rows, func(row []any) bool { return slices.Contains(row, any(want)) })
				if !named {
					t.Errorf("the data of %s does not name %q", f.Name, want)
				}
			}
		})
	}
}
