package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// stored makes a run from the last steps of its tasks and evaluations, given as a step and the tasks' accuracies
// in percent, where −1 stands for a task that has not started.
func stored(ends []int, evaluations ...[]float64) *Run {
	r := &Run{Dataset: "glyphs", Increment: "task"}
	for i, end := range ends {
		r.Tasks = append(r.Tasks, Task{ID: i + 1, Classes: []int{2 * i, 2*i + 1}, End: end})
	}
	for _, e := range evaluations {
		p := Point{Step: int(e[0])}
		n := 0.0
		for i, percent := range e[1:] {
			acc := percent / 100
			if ends[i] == p.Step {
				p.Ended = append(p.Ended, i+1)
				r.Tasks[i].AccEnd = acc
			}
			if percent < 0 {
				p.Acc = append(p.Acc, nil)
				continue
			}
			p.Acc = append(p.Acc, &acc)
			p.Mean = (p.Mean*n + acc) / (n + 1)
			n++
			r.Tasks[i].AccFinal = acc
		}
		r.Curve = append(r.Curve, p)
	}
	return r
}

// threeTasks ends its tasks after steps 10, 30 and 30; task 1 falls to 40 in between.
func threeTasks() *Run {
	return stored([]int{10, 30, 30},
		[]float64{10, 80, -1, -1},
		[]float64{20, 40, 60, -1},
		[]float64{30, 70, 90, 50})
}

func TestMetrics(t *testing.T) {
	m := threeTasks().Metrics()
	for name, c := range map[string]struct {
		got  Metric
		want float64
	}{
		"A":       {m.A, 70},
		"F":       {m.F, -10. / 3},
		"A_first": {m.AFirst, (80. + 90 + 50) / 3},
		"lowest":  {m.Lowest, 40},
		// Task 1 counts with 40, the two others with what they end with.
		"worst case": {m.WorstCase, (40. + 90 + 50) / 3},
		// 80 at step 10 and 70 at step 30; two tasks that end together count as one evaluation.
		"at ends": {m.AtEnds, 75},
		// 80, 50, 70 at steps 10, 20, 30.
		"anytime":         {m.Anytime, (65. + 60) / 2},
		"backward":        {m.Backward, -10},
		"task 1's end":    {m.Tasks[0].End, 80},
		"task 1's final":  {m.Tasks[0].Final, 70},
		"task 1's lowest": {m.Tasks[0].Lowest, 40},
		"task 1's F":      {m.Tasks[0].Backward, -10},
		"task 2's F":      {m.Tasks[1].F, 0},
	} {
		if !c.got.Defined() || math.Abs(c.got.Percent-c.want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	if m.Evaluations != 3 || m.Tasks[2].ID != 3 {
		t.Errorf("%+v", m)
	}
	for name, c := range map[string]struct {
		got  Metric
		want string
	}{
		"forward":           {m.Forward, "untrained"},
		"task 2's lowest":   {m.Tasks[1].Lowest, "ended with the run"},
		"task 2's backward": {m.Tasks[1].Backward, "ended with the run"},
		"class 0":           {m.Tasks[0].Classes[0].Final, "by class"},
	} {
		if c.got.Defined() || !strings.Contains(c.got.Undefined, c.want) {
			t.Errorf("%s is %v, want the reason %q", name, c.got, c.want)
		}
	}
}

// TestUndefinedMetrics: nothing is made of what is not there.
func TestUndefinedMetrics(t *testing.T) {
	together := stored([]int{5, 5}, []float64{5, 80, 60}).Metrics() // multi-task learning
	for name, m := range map[string]Metric{"lowest": together.Lowest, "backward": together.Backward} {
		if !strings.Contains(m.Undefined, "no task ended before") {
			t.Errorf("all tasks at once, %s: %v", name, m)
		}
	}
	if together.WorstCase.Percent != 70 || together.Anytime.Percent != 70 || together.F.Percent != 0 {
		t.Errorf("all tasks at once: %+v", together)
	}
	bare := &Run{Tasks: []Task{{ID: 1, End: 3, AccEnd: 0.5, AccFinal: 0.25}, {ID: 2, End: 9}}}
	m := bare.Metrics()
	if m.A.Percent != 12.5 || m.Backward.Percent != -25 {
		t.Errorf("without evaluations: %+v", m)
	}
	for name, c := range map[string]struct {
		got  Metric
		want string
	}{
		"anytime": {m.Anytime, "no evaluation is stored"}, "at ends": {m.AtEnds, "no evaluation at"}, "lowest": {m.Tasks[0].Lowest, "no evaluation after"},
		"A of nothing": {(&Run{}).Metrics().A, "no tasks"}, "worst case of nothing": {(&Run{}).Metrics().WorstCase, "no tasks"},
	} {
		if !strings.Contains(c.got.Undefined, c.want) {
			t.Errorf("%s: %v, want the reason %q", name, c.got, c.want)
		}
	}
}

// TestMetricsOfClasses: a class without test samples has no accuracy.
func TestMetricsOfClasses(t *testing.T) {
	r := threeTasks()
	r.Tasks[0].ByClass = []Class{{Class: 0, Test: 8, AccEnd: 1, AccFinal: 0.75}, {Class: 1}}
	got := r.Metrics().Tasks[0].Classes
	want := []ClassMetrics{
		{Class: 0, End: Metric{Percent: 100}, Final: Metric{Percent: 75}, F: Metric{Percent: -25}},
		{Class: 1, End: undefined("the class has no test samples"), Final: undefined("the class has no test samples"), F: undefined("the class has no test samples")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMetricsInSerial: where one task follows another, the metrics are those of their authors, from the matrix of
// accuracies a[i][j] of task j after task i.
func TestMetricsInSerial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "tasks")
		a := make([][]float64, n)
		var ends []int
		var evaluations [][]float64
		for i := range a {
			a[i] = rapid.SliceOfN(rapid.Float64Range(0, 100), n, n).Draw(t, "row")
			ends = append(ends, 10*(i+1))
			e := append([]float64{float64(10 * (i + 1))}, a[i]...)
			for j := i + 1; j < n; j++ {
				e[j+1] = -1
			}
			evaluations = append(evaluations, e)
		}
		m := stored(ends, evaluations...).Metrics()
		backward, lowest, worst, incremental := 0.0, 0.0, a[n-1][n-1]/float64(n), 0.0
		for j := range n - 1 {
			backward += (a[n-1][j] - a[j][j]) / float64(n-1)
			least := math.Inf(1)
			for i := j + 1; i < n; i++ {
				least = min(least, a[i][j])
			}
			lowest += least / float64(n-1)
		}
		worst += (1 - 1/float64(n)) * lowest
		for i := range n {
			for j := range i + 1 {
				incremental += a[i][j] / float64(i+1) / float64(n)
			}
		}
		for name, c := range map[string][2]float64{
			"BWT": {m.Backward.Percent, backward}, "min-ACC": {m.Lowest.Percent, lowest}, "WC-ACC": {m.WorstCase.Percent, worst},
			"average incremental accuracy": {m.AtEnds.Percent, incremental}, "F": {m.F.Percent, backward * float64(n-1) / float64(n)},
			"A − F": {m.A.Percent - m.F.Percent, m.AFirst.Percent},
		} {
			if math.Abs(c[0]-c[1]) > 1e-9 {
				t.Fatalf("%s is %v, want %v", name, c[0], c[1])
			}
		}
	})
}

func TestForwardTransfer(t *testing.T) {
	r := threeTasks()
	alone := stored([]int{10, 20, 30}, []float64{10, 60, -1, -1}, []float64{20, 50, 80, -1}, []float64{30, 10, 10, 90})
	alone.Tasks[0].Classes = []int{1, 0}
	tasks, mean := r.ForwardTransfer(alone)
	for i, want := range []float64{20, 10, -40} {
		if math.Abs(tasks[i].Percent-want) > 1e-9 {
			t.Errorf("task %d: %v, want %v", i+1, tasks[i], want)
		}
	}
	if math.Abs(mean.Percent+10./3) > 1e-9 {
		t.Errorf("mean %v", mean)
	}
	alone.Tasks[2].Classes = []int{77}
	if tasks, mean = r.ForwardTransfer(alone); tasks[2].Defined() || math.Abs(mean.Percent-15) > 1e-9 {
		t.Errorf("a task without a counterpart: %v, mean %v", tasks[2], mean)
	}
	alone.Increment = "class"
	if _, mean = r.ForwardTransfer(alone); !strings.Contains(mean.Undefined, "class-incremental") {
		t.Errorf("another increment: %v", mean)
	}
	r.Increment = "class"
	alone.Tasks[1].Start = alone.Tasks[0].End + 1 // while it began earlier in r
	r.Tasks[1].Start = r.Tasks[0].Start
	if tasks, _ = r.ForwardTransfer(alone); !strings.Contains(tasks[0].Undefined, "classes competed") {
		t.Errorf("other numbers of classes compete: %v", tasks)
	}
	if _, mean = r.ForwardTransfer(r); mean.Percent != 0 || !mean.Defined() {
		t.Errorf("against itself: %v", mean)
	}
	if _, mean = (&Run{}).ForwardTransfer(alone); mean.Defined() {
		t.Errorf("a run without tasks: %v", mean)
	}
}

func TestMetricText(t *testing.T) {
	if got := fmt.Sprint(Metric{Percent: 52.814}, undefined("none of %d", 3)); got != "52.81 undefined: none of 3" {
		t.Errorf("%q", got)
	}
	text, err := json.Marshal(threeTasks().Metrics())
	if err != nil || !strings.Contains(string(text), `"A":{"percent":70`) || !strings.Contains(string(text), `"undefined":"the task ended with the run"`) {
		t.Errorf("%s, %v", text, err)
	}
}
