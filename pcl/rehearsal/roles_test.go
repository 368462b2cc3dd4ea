package rehearsal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// choosing is a part that replays given samples.
type choosing struct{ samples []int }

func init() {
	Register(Info{Name: "choosing", Title: "-", Does: "-", Source: "-", Cost: "-", State: "-", Axes: []string{"replay"}},
		func() Part {
			return new(choosing)
		})
}

func (c *choosing) Join(r *Rehearsal) error {
	r.Draw = func(ReplayContext) ([]int, error) { return slices.Clone(c.samples), nil }
	return nil
}

// TestChosenSamplesAreReplayed: the samples that a part chooses are the first row of every form of
// distillation, and every other row that shares its samples.
func TestChosenSamplesAreReplayed(t *testing.T) {
	l := newSmallModel(t, 2, 4, memory.Config{Policy: "fixed_total", Budget: 40})
	for _, it := range l.drawn(40) {
		l.store.Put(l.store.Len(), it)
	}
	chosen := []int{3, 1, 4, 15}
	for _, c := range []struct {
		part   *Distill
		ids    []int
		shared int // rows with the chosen samples
	}{
		{&Distill{}, []int{0, stored}, 1},
		{&Distill{Rows: "apart"}, []int{0, stored}, 1},
		{&Distill{Draws: "one"}, []int{0}, 1},
		{&Distill{Draws: "one", Rows: "apart"}, []int{0, stored}, 2},
		{&Distill{Alpha: new(0.0)}, []int{0}, 1},
		{&Distill{Beta: new(0.0)}, []int{stored}, 1},
		{&Distill{Beta: new(0.0), Draws: "one"}, []int{stored}, 1},
	} {
		for _, parts := range [][]Part{{c.part, &choosing{chosen}}, {&choosing{chosen}, c.part}} {
			r := must.Get(New(parts...))(t)
			rows := must.Get(replayer{r}.Replays(l))(t)
			var ids []int
			shared := 0
			for i, row := range rows {
				ids = append(ids, row.ID)
				if slices.Equal(row.Indices, chosen) {
					shared++
				} else if i < c.shared || len(row.Indices) != l.batch {
					t.Errorf("%+v: row %d replays %v, want %v or a batch", c.part, row.ID, row.Indices, chosen)
				}
			}
			switch {
			case !slices.Equal(ids, c.ids):
				t.Errorf("%+v: ids is %v; want %v", c.part, ids, c.ids)
			case shared != c.shared:
				t.Errorf("%+v: shared is %d; want %d", c.part, shared, c.shared)
			}
		}
	}
}

// TestLossesOfRows: the tasks have their loss, the memory's rows theirs.
func TestLossesOfRows(t *testing.T) {
	r := must.Get(New(&Distill{}))(t)
	o := objective{r}
	for id, want := range map[int]Loss{1: {}, 9: {}, memoryRow: {Scale: 0.5}, stored: {StoredLogits: true, Scale: 0.3}} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			if got := o.Loss(id); got != want {
				t.Errorf("row %d has the loss %+v, want %+v", id, got, want)
			}
		})
	}
	r = must.Get(New(&Distill{Draws: "one"}, &PerTask{}))(t)
	for _, id := range []int{memoryRow, -1, -7} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			if got, want := (objective{r}).Loss(id), (Loss{Scale: 0.5, Distill: 0.3}); got != want {
				t.Errorf("row %d of a finished task has the loss %+v, want %+v", id, got, want)
			}
		})
	}
	plain := must.Get(New())(t)
	if roles := plain.Roles(); roles != (Roles{}) {
		t.Errorf("plain replay has the roles %v", roles)
	}
}

// TestRowsOfTasks: a row for each finished task, of its samples alone.
func TestRowsOfTasks(t *testing.T) {
	l := newSmallModel(t, 2, 4, memory.Config{Policy: "fixed_total", Budget: 60})
	for i, it := range l.drawn(60) {
		it.Task = 1 + i%3 // of which 1 is running
		l.store.Put(l.store.Len(), it)
	}
	r := must.Get(New(&PerTask{}))(t)
	rows := must.Get(replayer{r}.Replays(l))(t)
	if len(rows) != 2 {
		t.Fatalf("%d rows, want those of tasks 2 and 3", len(rows))
	}
	for k, row := range rows {
		if row.ID != -2-k || len(row.Indices) != l.batch {
			t.Errorf("row %d has %d samples", row.ID, len(row.Indices))
		}
		for _, it := range l.store.Items(row.Indices) {
			if it.Task != 2+k {
				t.Errorf("row %d has a sample of task %d", row.ID, it.Task)
			}
		}
	}
}

// TestCurateByRank: the store holds the first of the ranking in its order, and of those the first
// when it must shrink; the model is copied. A pool is asked for only where there is a choice.
func TestCurateByRank(t *testing.T) {
	r := must.Get(New(&ICaRL{Pool: 30}))(t)
	l, c := newSmallModel(t, 4, 4, memory.Config{Policy: "fixed_total", Budget: 12}), curator{r}
	candidates := l.drawn(40)
	for i := range candidates {
		candidates[i].Class = i % 2
	}
	ranked := must.Get(rankByHerding(l, candidates, 6))(t)
	check := func(n int) {
		t.Helper()
		for class := range 2 {
			for k, it := range ranked[6*class : 6*class+n] {
				if got := l.store.Item(class*n + k); !slices.Equal(got.Pixels, it.Pixels) {
					t.Errorf("place %d of class %d with %d places is not the ranking's", k, class, n)
				}
			}
		}
	}
	must.Do(t, c.Curate(l, 1, candidates))
	check(6)
	for i := range candidates {
		candidates[i].Class, candidates[i].Task = 2+i%2, 2
	}
	must.Do(t, c.Curate(l, 2, candidates))
	check(3)
	if l.at[Remembered] == nil {
		t.Error("the model was not remembered")
	}
	if c.Pool(6) != 30 || c.Pool(700) != 700 || c.Pool(0) != 0 {
		t.Errorf("pools of %d, %d, %d; want 30, 700, 0", c.Pool(6), c.Pool(700), c.Pool(0))
	}
}

// TestAngularRows: with distillation there is a second row, of the scores without margins; without
// it plain replay.
func TestAngularRows(t *testing.T) {
	r := must.Get(New(&AngularMargin{Distill: 2, LegacyNorm: true}))(t)
	tasks, scores := (objective{r}).Loss(1), (objective{r}).Loss(stored)
	switch {
	case !r.Logits:
		t.Error("r.Logits is false")
	case !tasks.Frobenius:
		t.Error("tasks.Frobenius is false")
	case tasks.ClassMargin != .01:
		t.Errorf("tasks.ClassMargin is %g; want .01", tasks.ClassMargin)
	case !scores.StoredLogits:
		t.Error("scores.StoredLogits is false")
	case scores.Scale != 2:
		t.Errorf("scores.Scale is %g; want 2", scores.Scale)
	case scores.ClassMargin != 0:
		t.Errorf("scores.ClassMargin is %g; want 0", scores.ClassMargin)
	case tasks != (objective{r}).Loss(memoryRow):
		t.Errorf("losses %+v and %+v", tasks, scores)
	}
	switch r = must.Get(New(&AngularMargin{}))(t); {
	case r.Logits:
		t.Error("without distillation: r.Logits is true")
	case len(r.Rows) != 1:
		t.Errorf("without distillation: len(r.Rows) is %d; want 1", len(r.Rows))
	}
}
