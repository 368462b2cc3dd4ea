package viz_test

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// runsWithNames returns runs whose tasks have names, and the names of their first tasks.
func runsWithNames(name func(i int) string) (runs []*results.Run, names []string) {
	for _, r := range only(loadRuns("methods.jsonl.gz"), "task") {
		run := *r
		run.Tasks = slices.Clone(run.Tasks)
		for i := range run.Tasks {
			run.Tasks[i].Name = name(i)
		}
		runs = append(runs, &run)
	}
	return runs, runs[0].TaskNames()
}

// drawnWithNames draws every figure that tells tasks apart.
func drawnWithNames(t *testing.T, name func(i int) string) (all map[string]*viz.Figure, names []string) {
	t.Helper()
	runs, names := runsWithNames(name)
	return drawn(t, map[string]func() (*viz.Figure, error){
		"Timeline":       func() (*viz.Figure, error) { return viz.Timeline(runs[0]) },
		"TaskCurves":     func() (*viz.Figure, error) { return viz.TaskCurves(withTasks(runs[0])) },
		"TaskAccuracy":   func() (*viz.Figure, error) { return viz.TaskAccuracy(runs...) },
		"AccuracyMatrix": func() (*viz.Figure, error) { return viz.AccuracyMatrix(runs...) },
		"StreamWeights":  func() (*viz.Figure, error) { return viz.StreamWeights(loadRecords(), names...) },
		"Certificates":   func() (*viz.Figure, error) { return viz.Certificates(loadRecords(), names...) },
		"Conflicts":      func() (*viz.Figure, error) { return viz.Conflicts(loadRecords(), names...) },
	}), names
}

// TestTasksAreCalledByTheirNames: in all figures, in whole where a reader points or reads the data.
func TestTasksAreCalledByTheirNames(t *testing.T) {
	for kind, name := range map[string]func(int) string{
		"short": func(i int) string { return fmt.Sprintf("set %c", 'A'+i) },
		"long": func(i int) string {
			return fmt.Sprintf("handwritten letters & digits of %s, part %d", strings.Repeat("many ", 30), i)
		},
		"shared": func(int) string { return "digits" },
	} {
		figures, names := drawnWithNames(t, name)
		for of, f := range figures {
			t.Run(kind+" in "+of, func(t *testing.T) {
				page := viz.DrawFrames(0, nil, f).HTML()
				for _, n := range names[:2] {
					if !strings.Contains(page, html.EscapeString(n)) {
						t.Errorf("the page lacks %q", n)
					}
				}
			})
		}
	}
}

// TestLongNamesLeaveRoom: however long the names, each plot keeps as much of its place as this.
func TestLongNamesLeaveRoom(t *testing.T) {
	const least = 0.45
	for kind, name := range map[string]func(int) string{
		"long":     func(i int) string { return fmt.Sprint(strings.Repeat("a long name ", 20), i) },
		"one word": func(i int) string { return fmt.Sprint(strings.Repeat("ÄWM", 70), i) },
		"lines":    func(i int) string { return fmt.Sprint(strings.Repeat("line\n", 40), i) },
	} {
		figures, _ := drawnWithNames(t, name)
		for of, f := range figures {
			t.Run(kind+" in "+of, func(t *testing.T) {
				var frames struct {
					Drawings []struct {
						Width int
						Key   []struct{ Box [4]int }
						Rows  [][]struct{ Box, Data [4]int }
					}
				}
				must.Do(t, json.Unmarshal(must.Get(json.Marshal(viz.DrawFrames(0, nil, f)))(t), &frames))
				d := frames.Drawings[0]
				for _, k := range d.Key {
					if k.Box[2] > d.Width {
						t.Errorf("an entry of the key is %d wide, the figure %d", k.Box[2], d.Width)
					}
				}
				for _, row := range d.Rows {
					for _, p := range row {
						if share := float64(p.Data[2]) / float64(p.Box[2]); p.Box[2] > 0 && share < least {
							t.Errorf("the data have %.2f of their place", share)
						}
					}
				}
			})
		}
	}
}

// TestCutNamesDiffer: bars whose names differ only in the middle, which is cut out, have numbers.
func TestCutNamesDiffer(t *testing.T) {
	runs, _ := runsWithNames(func(i int) string {
		return strings.Repeat("the same ", 8) + fmt.Sprint(i) + strings.Repeat(" again", 8)
	})
	f := must.Get(viz.Timeline(runs[0]))(t)
	seen := map[string]bool{}
	for _, tick := range f.Rows[0][0].Y.Tick.Marker.Ticks(-1, 99) {
		if seen[tick.Label] {
			t.Errorf("two rows are %q", tick.Label)
		}
		seen[tick.Label] = true
	}
	if len(seen) != len(runs[0].Tasks)+1 {
		t.Errorf("%d rows for %d tasks and the memory", len(seen), len(runs[0].Tasks))
	}
}
