package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// small is a run of a few seconds even in pure Go.
func small() Config {
	c := DefaultConfig("glyphs")
	c.TrainPerClass, c.Hidden = 8, []int{8}
	return c
}

// glyphs is drawn once for all sessions.
var glyphs = sync.OnceValues(func() (*datasets.Dataset, error) {
	return datasets.Open(context.Background(), "glyphs", datasets.Options{})
})

func open(t *testing.T, o Options) *Session {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Backend == "" {
		o.Backend = backend.Go
	}
	g := New("glyphs", o)
	set := must.Get(glyphs())(t)
	g.set = set
	t.Cleanup(func() {
		must.Do(t, g.Close())
	})
	return g
}

// TestRun makes runs, finds them finished, takes an interrupted one up, and repeats one whose
// records are missing.
func TestRun(t *testing.T) {
	ctx := t.Context()
	g := open(t, Options{})
	configs := Vary(small(), []string{"emgd-gmc", "avggrad"}, nil)

	// Interrupted in the second run: the first is there, the second saved.
	stopped, cancel := context.WithCancel(ctx)
	defer cancel()
	var last [2]int
	progress := func(done, total int, note string) {
		if done < last[0] {
			t.Errorf("progress went back from %d to %d", last[0], done)
		}
		last = [2]int{done, total}
		if done > total/2+3 {
			cancel()
		}
	}
	if _, err := g.Run(stopped, configs, progress); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("interrupted: %v, want ErrInterrupted", expect.Text(err))
	}
	if saved, err := filepath.Glob(filepath.Join(g.options.Dir, configs[1].Folder(), "checkpoint-*")); err != nil ||
		len(saved) != 1 {
		t.Errorf("the interrupted run left the checkpoints %q (%v), want one", saved, expect.Text(err))
	}
	runs := must.Get(g.Run(ctx, configs, nil))(t)
	switch {
	case runs[0].Method != "emgd-gmc":
		t.Errorf("runs[0].Method is %q; want %q", runs[0].Method, "emgd-gmc")
	case runs[0].Measured.Resumed != 0:
		t.Errorf("runs[0].Measured.Resumed is %d; want 0", runs[0].Measured.Resumed)
	case runs[1].Method != "avggrad":
		t.Errorf("runs[1].Method is %q; want %q", runs[1].Method, "avggrad")
	case runs[1].Measured.Resumed != 1:
		t.Errorf("runs[1].Measured.Resumed is %d; want 1", runs[1].Measured.Resumed)
	}

	// Finished: a grid that cannot open anything reads them.
	last = [2]int{}
	again := New("glyphs", Options{Dir: g.options.Dir, Backend: "none", DataDir: "none"})
	read := must.Get(again.Run(ctx, configs, progress))(t)
	for i := range runs {
		if a, b := must.Get(json.Marshal(runs[i]))(t), must.Get(json.Marshal(read[i]))(t); !bytes.Equal(a, b) {
			t.Errorf("run %d was read as\n%s\nwant\n%s", i, b, a)
		}
	}
	if total := runs[0].Steps + runs[1].Steps; last != [2]int{total, total} {
		t.Errorf("progress ends at %v, want %d of %d", last, total, total)
	}

	// Of another configuration is what somebody put in a run's place.
	result := filepath.Join(g.options.Dir, configs[0].Folder(), results.ResultFile)
	own := must.Get(os.ReadFile(result))(t)
	must.Do(t, runs[1].Save(result))
	if _, err := again.Run(ctx, configs[:1], nil); !errors.Is(err, ErrForeign) {
		t.Errorf("another run's result: %v, want ErrForeign", expect.Text(err))
	}
	must.Do(t, os.WriteFile(result, own, 0o644))

	// Records were not written: with them the run is made again, to the same bits.
	if _, err := again.Records(configs[0]); err == nil {
		t.Errorf("records that are not there: %v", expect.Text(err))
	}
	recording := open(t, Options{Dir: g.options.Dir, Record: true})
	repeated := must.Get(recording.Run(ctx, configs[:1], nil))(t)
	if repeated[0].ModelSHA256 != runs[0].ModelSHA256 {
		t.Error("the run that was made again ends with another model")
	}
	records, err := recording.Records(configs[0])
	if err != nil || len(records) != runs[0].Steps {
		t.Errorf("%d records (%v), want %d", len(records), expect.Text(err), runs[0].Steps)
	}

	// Play is the same run: accuracies and records.
	final := make([]float64, len(runs[0].Tasks))
	var played []results.Record
	must.Do(t, recording.Play(ctx, configs[0], func(l *pcl.Learner, r *pcl.StepReport) error {
		played = append(played, Record(r))
		for i := 0; l.Steps() == runs[0].Steps && i < len(final); i++ {
			final[i] = must.Get(l.Evaluate(i + 1))(t)
		}
		return nil
	}))
	for i, task := range runs[0].Tasks {
		if final[i] != task.AccFinal {
			t.Errorf("played, task %d ends at accuracy %v, run at %v", i+1, final[i], task.AccFinal)
		}
	}
	if !reflect.DeepEqual(played, records) {
		t.Error("the records of Play are not those of Run")
	}
}

func TestStop(t *testing.T) {
	g := open(t, Options{})
	steps := 0
	err := g.Play(t.Context(), small(), func(l *pcl.Learner, r *pcl.StepReport) error {
		if steps = l.Steps(); steps == 3 {
			return ErrStop
		}
		return nil
	})
	if err != nil || steps != 3 {
		t.Errorf("stopped after %d steps: %v, want 3 and no error", steps, expect.Text(err))
	}
}

// TestLearner attaches two tasks of chosen classes by hand.
func TestLearner(t *testing.T) {
	ctx := t.Context()
	g := open(t, Options{})
	c := small()
	c.Increment = "class"
	l := must.Get(g.Learner(ctx, c))(t)
	defer l.Close()
	for id, classes := range [][]int{{10, 11, 12, 13, 14}, {0, 1, 2}} {
		task := must.Get(g.Task(ctx, c, id+1, classes...))(t)
		if got, err := l.Attach(task); err != nil || got != id+1 {
			t.Fatalf("attached as task %d: %v", got, expect.Text(err))
		}
		r := must.Get(l.Step())(t)
		if len(r.IDs) != id+1 || len(r.Ended) != 2*id { // 40 images in batches of 32 are two steps, 24 one
			t.Errorf("step %d had the rows %v and ended %v", r.Step, r.IDs, r.Ended)
		}
	}
	if n := l.Memory().Len(); n != 40 {
		t.Errorf("the memory holds %d samples, want 8 classes × 5", n)
	}
	if _, err := g.Task(ctx, c, 3, 99); err == nil {
		t.Errorf("a class that is not there: %v", expect.Text(err))
	}
}

func TestEnvironmentNamesTheBackend(t *testing.T) {
	t.Setenv(envBackend, backend.Go)
	g := New("glyphs", Options{})
	b := must.Get(g.Backend(t.Context()))(t)
	defer g.Close()
	if b.Info.Name != backend.Go {
		t.Errorf("opened %s", b.Info.Name)
	}
}

// TestMistakes are told before anything runs.
func TestMistakes(t *testing.T) {
	g := open(t, Options{})
	wrong, other := small(), small()
	wrong.Method, other.Dataset = "nonsense", "mnist"
	for name, configs := range map[string][]Config{
		"an unknown method": {small(), wrong}, "a repeated seed": Vary(small(), nil, nil, 7, 8, 7),
		"another data set": {other},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := g.Run(t.Context(), configs, nil); err == nil {
				t.Error("no error")
			}
		})
	}
	if left, err := os.ReadDir(g.options.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v was made before the mistake was told (%v)", left, expect.Text(err))
	}
	_, learner := g.Learner(t.Context(), other)
	_, task := g.Task(t.Context(), other, 1, 0)
	_, unknown := New("nowhere", Options{Backend: backend.Go}).Run(t.Context(), []Config{small()}, nil)
	for _, err := range []error{learner, task, g.Play(t.Context(), other, nil), unknown} {
		if err == nil {
			t.Error("another data set: no error")
		}
	}
}

// An observed run has the Gram matrix of each step and the losses after it, of the rows that its
// weights are for. work the rule has seen the memory's rows as one, so has the record.
func TestObservedRecords(t *testing.T) {
	g := open(t, Options{Observe: true})
	for _, name := range []string{"avggrad+der-pp", "emgd-gmc+der-pp"} {
		t.Run(name, func(t *testing.T) {
			c := small()
			c.Method = name
			withMemory := false
			err := g.Play(t.Context(), c, func(l *pcl.Learner, s *pcl.StepReport) error {
				r := Record(s)
				k := len(r.IDs)
				switch {
				case len(r.Losses) != k:
					t.Errorf("step %d: len(r.Losses) is %d; want %d", r.Step, len(r.Losses), k)
				case len(r.LossesAfter) != k:
					t.Errorf("step %d: len(r.LossesAfter) is %d; want %d", r.Step, len(r.LossesAfter), k)
				case len(r.Weights) != k:
					t.Errorf("step %d: len(r.Weights) is %d; want %d", r.Step, len(r.Weights), k)
				case len(r.Gram) != k*k:
					t.Errorf("step %d: len(r.Gram) is %d; want %d", r.Step, len(r.Gram), k*k)
				}
				if joined := len(s.IDs) > k; len(s.IDs) > 1 && s.IDs[1] < 0 {
					withMemory = true
					if joined != (name == "emgd-gmc+der-pp") {
						t.Errorf("step %d has rows %v and the record %v", r.Step, s.IDs, r.IDs)
					}
					if joined && math.Abs(r.LossesAfter[0]-s.LossesAfter[0]-s.LossesAfter[1]) > 1e-12 {
						t.Errorf("step %d: the memory's loss after it is %g, of its rows %g", r.Step, r.LossesAfter[0], s.LossesAfter[:2])
					}
				}
				return nil
			})
			if err != nil || !withMemory {
				t.Errorf("%v, with a memory: %t", expect.Text(err), withMemory)
			}
		})
	}
}

// TestJoined: rows that the rule saw keep their losses, and those that it did not see are part of
// the first.
func TestJoined(t *testing.T) {
	ids, losses := []int{0, -1, -9, 4, 5}, []float64{1, 2, 4, 8, 16}
	for _, c := range []struct {
		seen []int
		want []float64
	}{
		{[]int{0, 4, 5}, []float64{7, 8, 16}},
		{[]int{0, -9, 4, 5}, []float64{3, 4, 8, 16}}, // a penalty in a row of its own
		{[]int{0, -1, 4, 5}, []float64{5, 2, 8, 16}},
	} {
		if got := joined(ids, c.seen, losses); !slices.Equal(got, c.want) {
			t.Errorf("of rows %v: %v, want %v", c.seen, got, c.want)
		}
	}
	if joined(ids, ids, nil) != nil {
		t.Error("there are losses where there were none")
	}
}
