package rehearsal

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// TestNearestMeans: the means are those of unit features, over the stored samples and the
// candidates of running tasks, and have length 1 themselves.
func TestNearestMeans(t *testing.T) {
	l, m := newSmallModel(t, 4, 2, memory.Config{Policy: "per_class", Budget: 6}), &nearestMean{}
	must.Do(t, m.Prepare(l))
	if len(m.means) != 0 {
		t.Errorf("%d class means of nothing", len(m.means))
	}
	l.candidates = []memory.Item{{Class: 0, Pixels: []float32{3, 0}}, {Class: 1, Pixels: []float32{0, 2}}}
	must.Do(t, m.Prepare(l))
	if len(m.means) != 2 {
		t.Errorf("%d class means from candidates of two classes", len(m.means))
	}
	l.store.Put(l.store.Len(), memory.Item{Class: 1, Pixels: []float32{5, 0}})
	l.store.Put(l.store.Len(), memory.Item{Class: 2, Pixels: []float32{0, 0}})
	must.Do(t, m.Prepare(l))
	half := math.Sqrt(.5)
	for class, want := range map[int][2]float64{0: {1, 0}, 1: {half, half}, 2: {0, 0}} {
		t.Run(fmt.Sprint(class), func(t *testing.T) {
			if got := m.means[class]; len(m.means) != 3 || math.Hypot(got[0]-want[0], got[1]-want[1]) > 1e-12 {
				t.Errorf("class %d of %d has the mean %v, want %v", class, len(m.means), got, want)
			}
		})
	}
}

// TestBetweenTasks: whether means decide depends on the classes alone, also where tasks share some.
func TestBetweenTasks(t *testing.T) {
	m := &nearestMean{between: true, means: map[int][]float64{},
		tasks: map[int][]int{0: {1, 2}, 1: {2}, 2: {1, 3}, 4: {4}}}
	for c := range m.tasks {
		m.means[c] = []float64{1, float64(c)}
	}
	for _, c := range []struct {
		classes []int
		means   bool
	}{
		{[]int{0}, false}, {[]int{0, 1}, false}, {[]int{1, 0}, false}, {[]int{2, 0}, false}, {[]int{0, 2}, false},
		{[]int{1, 2}, true}, {[]int{0, 1, 2}, true}, {[]int{2, 4}, true},
		{[]int{3, 4, 5}, false}, {[]int{3, 1, 5, 0}, false}, {[]int{3}, false}, // of 3 and 5 there are no samples
	} {
		if got := m.Score([]float32{1, 0}, c.classes, make([]float64, len(c.classes))); got != c.means {
			t.Errorf("classes %v: compared by means: %t, want %t", c.classes, got, c.means)
		}
	}
}

// TestNeverWithinTasks: where each prediction is among one task's classes, means for comparisons
// between tasks decide none, also where no task has samples of all of its classes.
func TestNeverWithinTasks(t *testing.T) {
	for _, oneTask := range []bool{false, true} {
		t.Run(fmt.Sprint(oneTask), func(t *testing.T) {
			l, m := newSmallModel(t, 4, 2, memory.Config{Policy: "per_class", Budget: 6}), &nearestMean{between: true}
			l.oneTask = oneTask
			l.store.Put(l.store.Len(), memory.Item{Task: 1, Class: 0, Pixels: []float32{1, 0}})
			l.store.Put(l.store.Len(), memory.Item{Task: 2, Class: 1, Pixels: []float32{0, 1}})
			must.Do(t, m.Prepare(l))
			if got := m.Score([]float32{1, 0}, []int{0, 1}, make([]float64, 2)); got == oneTask {
				t.Errorf("one task's classes compete: %t; compared by means: %t", oneTask, got)
			}
		})
	}
}

// TestMeansOfOtherSizes: features of another length are near to no class.
func TestMeansOfOtherSizes(t *testing.T) {
	m := &Means{Classes: []int{3}, Tasks: [][]int{{1}}, Values: [][]float32{{1, 0}}}
	rule := m.Scorer().(interface {
		Score(features []float32, classes []int, scores []float64) bool
	})
	scores := make([]float64, 1)
	if rule.Score([]float32{1, 0, 0}, []int{3}, scores); !math.IsInf(scores[0], -1) {
		t.Errorf("features of three numbers: %v", scores)
	}
}

// TestSomeOfEach: few samples of a class lie evenly among all, and a class with fewer keeps its
// own.
func TestSomeOfEach(t *testing.T) {
	var all []memory.Item
	for i := range 40 {
		all = append(all, memory.Item{Class: 1, Pixels: []float32{float32(i)}})
		if i%20 == 0 {
			all = append(all, memory.Item{Class: 2, Pixels: []float32{float32(-i)}})
		}
	}
	var got []float32
	for _, it := range someOfEach(all, 4) {
		got = append(got, it.Pixels[0])
	}
	if want := []float32{0, 0, 10, 20, -20, 30}; !slices.Equal(got, want) {
		t.Errorf("samples %v, want %v", got, want)
	}
	if got := someOfEach(all, len(all)); len(got) != len(all) {
		t.Errorf("%d of %d samples", len(got), len(all))
	}
}
