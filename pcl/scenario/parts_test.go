package scenario

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// TestLabelSets cuts random numbers of classes: each is in one task, and the sizes are in range.
func TestLabelSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.IntRange(1, 20).Draw(t, "tasks")
		lo := rapid.IntRange(1, 6).Draw(t, "lo")
		hi := rapid.IntRange(lo, 20).Draw(t, "hi")
		classes := rapid.IntRange(tasks*lo, tasks*hi).Draw(t, "classes")
		sets := must.Get(labelSets(classes, tasks, lo, hi, rapid.Uint64().Draw(t, "seed")))(t)
		var all []int
		for _, set := range sets {
			if len(set) < lo || len(set) > hi {
				t.Errorf("a task of %d classes, want %d to %d", len(set), lo, hi)
			}
			all = append(all, set...)
		}
		slices.Sort(all)
		switch {
		case len(sets) != tasks:
			t.Fatalf("len(sets) is %d; want %d", len(sets), tasks)
		case len(all) != classes:
			t.Fatalf("len(all) is %d; want %d", len(all), classes)
		case len(slices.Compact(all)) != classes:
			t.Fatalf("len(slices.Compact(all)) is %d; want %d", len(slices.Compact(all)), classes)
		case all[0] != 0:
			t.Fatalf("all[0] is %d; want 0", all[0])
		case all[classes-1] != classes-1:
			t.Fatalf("all[classes-1] is %d; want %d", all[classes-1], classes-1)
		}
	})
}

func TestInfeasibleLabelSets(t *testing.T) {
	for _, c := range [][4]int{
		{62, 5, 13, 15}, {62, 5, 3, 12}, {10, 0, 1, 3}, {10, 11, 1, 3}, {10, 5, 0, 3}, {10, 5, 3, 2}, {0, 1, 1, 1},
		{10, 3, math.MaxInt, math.MaxInt}, {10, math.MaxInt, 2, 3}, {10, 1 << 62, 4, 1 << 62},
	} {
		_, err := labelSets(c[0], c[1], c[2], c[3], 0)
		expect.Refusal(t, fmt.Sprintf("%d classes in %d tasks of %d to %d", c[0], c[1], c[2], c[3]), err,
			"classes cannot be cut into")
	}
	must.Get(labelSets(10, 5, 1, 1<<62, 0))(t) // no upper limit
}

func TestSeedsMatter(t *testing.T) {
	durations := []int{900, 400, 700, 300, 800}
	var sets [][][]int
	var all [][]int
	for _, seed := range []uint64{0, 1, 2, 0} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			sets, all = append(sets, must.Get(labelSets(62, 5, 3, 15, seed))(t)),
				append(all, must.Get(starts(durations, "parallel", seed))(t))
		})
	}
	for a := range 3 {
		for b := range a {
			if reflect.DeepEqual(sets[a], sets[b]) || slices.Equal(all[a], all[b]) {
				t.Errorf("seeds %d and %d give the same", a, b)
			}
		}
	}
	if !reflect.DeepEqual(sets[0], sets[3]) || !slices.Equal(all[0], all[3]) {
		t.Error("the same seed gives different situations")
	}
}

// TestStarts checks order and overlap of random parallel timelines.
func TestStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 12).Draw(t, "durations")
		starts := must.Get(starts(durations, "parallel", rapid.Uint64().Draw(t, "seed")))(t)
		last := 0
		for i, s := range starts {
			if i == 0 && s != 0 || i > 0 && s < starts[i-1] || s > last {
				t.Fatalf("starts %v of durations %v: stream %d leaves a gap or comes too early", starts, durations, i+1)
			}
			last = max(last, s+durations[i]-1)
		}
	})
}

// TestStartsCoverTheirRange draws the second of two streams often: every step of the first occurs.
func TestStartsCoverTheirRange(t *testing.T) {
	met := map[int]bool{}
	for seed := range uint64(200) {
		met[must.Get(starts([]int{10, 3}, "parallel", seed))(t)[1]] = true
	}
	for step := range 10 {
		if !met[step] {
			t.Errorf("no second stream starts at step %d of the first", step)
		}
	}
	if len(met) != 10 {
		t.Errorf("starts outside 0…9: %v", met)
	}
}

func TestOtherKinds(t *testing.T) {
	for kind, want := range map[string][]int{"serial": {0, 5, 7}, "all_at_once": {0, 0, 0}} {
		t.Run(kind, func(t *testing.T) {
			if got := must.Get(starts([]int{5, 2, 9}, kind, 3))(t); !slices.Equal(got, want) {
				t.Errorf("starts %v, want %v", got, want)
			}
		})
	}
}

// TestBlurredSets cuts classes into tasks that overlap: neighbours share as many classes as they
// should, and the parts of each class are those of its tasks, each once.
func TestBlurredSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 12).Draw(t, "size")
		overlap := rapid.IntRange(1, size-1).Draw(t, "overlap")
		tasks := rapid.IntRange(1, 8).Draw(t, "tasks")
		classes := size + (tasks-1)*(size-overlap)
		var sets [][]int
		var parts [][]Part
		for _, task := range must.Get(blurredSets(classes, tasks, size, overlap, rapid.Uint64().Draw(t, "seed")))(t) {
			sets, parts = append(sets, task.Classes), append(parts, task.Parts)
		}
		given := map[int]map[int]bool{}
		for i, set := range sets {
			if len(set) != size || len(parts[i]) != size {
				t.Fatalf("task %d has %d classes and %d parts, want %d", i+1, len(set), len(parts[i]), size)
			}
			if i > 0 && !slices.Equal(set[:overlap], sets[i-1][size-overlap:]) {
				t.Fatalf("tasks %v and %v do not share %d classes", sets[i-1], set, overlap)
			}
			for k, c := range set {
				if given[c] == nil {
					given[c] = map[int]bool{}
				}
				switch p := parts[i][k]; {
				case p.bad():
					t.Fatal("p.bad() is true")
				case given[c][p.Index]:
					t.Fatal("given[c][p.Index] is true")
				}
				given[c][parts[i][k].Index] = true
			}
		}
		for i, set := range sets {
			for k, c := range set {
				if p := parts[i][k]; max(1, p.Of) != len(given[c]) || p.Of == 1 {
					t.Fatalf("class %d is in %d parts, but %d tasks have it", c, p.Of, len(given[c]))
				}
			}
		}
		if len(given) != classes {
			t.Fatalf("%d of %d classes are in a task", len(given), classes)
		}
	})
	_, err := blurredSets(100, 9, 20, 9, 0)
	expect.Refusal(t, "blurredSets", err, "9 tasks of 20 classes, of which neighbours share 9, do not")
}

// TestParts divides samples: each belongs to one part, and len counts them.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, of := rapid.IntRange(0, 50).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "of")
		total := 0
		for index := range of {
			p, got := Part{index, of}, 0
			for nth := range n {
				if (Task{Classes: []int{7}, Parts: []Part{p}}).Has(7, nth) {
					got++
				}
			}
			switch {
			case got != p.len(n):
				t.Fatalf("part %d of %d of %d samples has %d, len says %d", index, of, n, got, p.len(n))
			case got < n/of:
				t.Fatalf("got is %d; want at least %d", got, n/of)
			case got > n/of+1:
				t.Fatalf("got is %d; want at most %d", got, n/of+1)
			}
			total += got
		}
		if total != n || (Part{}).len(n) != n {
			t.Fatalf("the parts have %d of %d samples", total, n)
		}
	})
}
