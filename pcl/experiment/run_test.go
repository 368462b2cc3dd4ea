package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/results"
)

func blobConfig(method string) Config {
	c := DefaultConfig("blobs")
	c.Method, c.Tasks, c.MinClasses, c.MaxClasses = method, 3, 2, 3
	c.Batch, c.Hidden, c.Optimizer.LR = 8, []int{16, 8}, 0.01
	c.Memory = memory.Config{Policy: "fixed_total", Budget: 24}
	c.Epochs, c.EvalEvery = 2, 7
	return c
}

// on returns a machine that has opened a backend and a data set.
func on(t testing.TB, b *backend.Backend, d *datasets.Dataset) *Machine {
	m := &Machine{backend: b, programs: pcl.NewPrograms(b), set: d}
	t.Cleanup(m.programs.Close)
	return m
}

// onBlobs is [on] in pure Go, with the data set of most tests.
func onBlobs(t testing.TB) *Machine {
	return on(t, pcltest.Backend(t, backend.Go), pcltest.Blobs(8, 40, 10))
}

// made makes one run.
func made(ctx context.Context, c Config, w work) (out *results.Run, err error) {
	checked, err := c.Check()
	if err != nil {
		return nil, err
	}
	for e, failed := range Each(ctx, []Checked{checked}, w.Store, w.Schedule) {
		out, err = e.Run, failed
	}
	return out, err
}

// outcome is a result without what was measured, and the record file, of the only run in a folder.
func outcome(t *testing.T, r *results.Run, out string) (result, records []byte) {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(out, "*"))
	if len(dirs) != 1 {
		t.Fatal(dirs)
	}
	dir := dirs[0]
	saved := must.Get(results.Load(filepath.Join(dir, results.ResultFile)))(t)
	if saved.ModelSHA256 != r.ModelSHA256 {
		t.Error("the saved result is not the returned one")
	}
	saved.Measured = results.Measured{}
	return must.Get(json.Marshal(saved))(t), must.Get(os.ReadFile(filepath.Join(dir, results.RecordsFile)))(t)
}

// resumed are runs that remember in different ways: methods with states, stored logits, a
// remembered network, their own store, edited pixels.
func resumed(b *backend.Backend) (configs []Config) {
	for _, increment := range []string{"task", "class"} {
		c := blobConfig("emgd-gmc")
		c.Increment = increment
		configs = append(configs, c)
	}
	if b.Info.Name != backend.Go {
		return configs
	}
	for _, name := range []string{"der-pp", "icarl", "gss", "mir", "gmed", "famo", "moco", "gem"} {
		c := blobConfig(name)
		c.Increment = "class"
		configs = append(configs, c)
	}
	c := blobConfig("emgd-gs")
	c.Edit = pcl.Edit{Eta: 0.01, MaxDrift: 0.05}
	return append(configs, c)
}

// TestResumeEqualsNeverStopping interrupts a run again and again, and compares model, memory,
// result and records with those of an uninterrupted run.
func TestResumeEqualsNeverStopping(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		m := on(t, b, pcltest.Blobs(8, 40, 10))
		for _, c := range resumed(b) {
			whole := t.TempDir()
			r := must.Get(made(t.Context(), c, work{Store: Store{Dir: whole, Record: true}, Schedule: Schedule{Machine: m}}))(t)
			wantResult, wantRecords := outcome(t, r, whole)

			parts, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
			stops := 0
			for {
				ctx, cancel := context.WithCancel(t.Context())
				left := 1 + rng.IntN(9)
				part, err := made(ctx, c, work{Store: Store{Dir: parts, Record: true},
					Schedule: Schedule{Machine: m, OnProgress: func(int, Progress) {
						if left--; left == 0 {
							cancel()
						}
					}}})
				cancel()
				if r = part; err == nil {
					break
				}
				if stops++; !errors.Is(err, ErrInterrupted) {
					t.Fatal(expect.Text(err))
				}
			}
			gotResult, gotRecords := outcome(t, r, parts)
			if stops < 5 || r.Measured.Resumed != stops {
				t.Errorf("%d stops, %d resumptions counted", stops, r.Measured.Resumed)
			}
			if !bytes.Equal(gotResult, wantResult) {
				t.Errorf("%s: after %d stops the result differs:\n%s\n%s", c.Method, stops, gotResult, wantResult)
			}
			if !bytes.Equal(gotRecords, wantRecords) {
				t.Errorf("%s: after %d stops the records differ", c.Method, stops)
			}
		}
	})
}

// TestStoppedInEvaluation interrupts evaluations, for which GDumb trains a network: it stops at
// once, the step is kept, and the run ends as one that was never stopped.
func TestStoppedInEvaluation(t *testing.T) {
	for _, increment := range []string{"task", "class"} {
		t.Run(increment, func(t *testing.T) {
			m, c := onBlobs(t), blobConfig("gdumb")
			c.Increment, c.Params = increment, map[string]any{"passes": 3.0}
			whole, parts := t.TempDir(), t.TempDir()
			r := must.Get(made(t.Context(), c, work{Store: Store{Dir: whole, Record: true}, Schedule: Schedule{Machine: m}}))(t)
			wantResult, wantRecords := outcome(t, r, whole)
			stops, before := 0, 0
			for again := true; again; {
				ctx, cancel := context.WithCancel(t.Context())
				left, late := 1+7*stops, 0
				var err error
				r, err = made(ctx, c, work{Store: Store{Dir: parts, Record: true}, Schedule: Schedule{Machine: m,
					OnPrepare: func(_, done, total int) {
						if left--; left == 0 {
							cancel()
						} else if left < 0 && ctx.Err() != nil {
							late++
						}
						if done < 0 || done >= total {
							t.Errorf("step %d of %d", done, total)
						}
					},
					OnProgress: func(_ int, p Progress) {
						if p.Step <= before {
							t.Errorf("step %d was made twice", p.Step)
						}
						before = p.Step
					},
				}})
				cancel()
				if again = err != nil; again && (!errors.Is(err, ErrInterrupted) || late > 0) {
					t.Fatalf("%s, %d steps after it was stopped", expect.Text(err), late)
				}
				if again {
					stops++
				}
			}
			gotResult, gotRecords := outcome(t, r, parts)
			if stops < 5 || !bytes.Equal(gotResult, wantResult) || !bytes.Equal(gotRecords, wantRecords) {
				t.Errorf("after %d stops:\n%s\n%s", stops, gotResult, wantResult)
			}
		})
	}
}

// TestDamagedCheckpoint cuts off and alters checkpoints: the run goes on from what it saved before,
// says so, and ends as undisturbed.
func TestDamagedCheckpoint(t *testing.T) {
	want := newPlayed(t).end(nil)
	for name, spoil := range map[string]func([]byte) []byte{
		"truncated":   func(good []byte) []byte { return good[:len(good)/2] },
		"empty":       func([]byte) []byte { return nil },
		"bit-flipped": func(good []byte) []byte { good[len(good)/3] ^= 4; return good },
	} {
		t.Run(name, func(t *testing.T) {
			for damaged := 1; damaged <= 2; damaged++ {
				p := newPlayed(t)
				p.stop(10, func(w *work) { w.CheckpointEvery = 4 })
				paths, err := series{dir: p.dir()}.list()
				if err != nil || len(paths) != 2 {
					t.Fatalf("checkpoints %v (%v), want 2", paths, expect.Text(err))
				}
				newest := paths[1]
				for _, path := range paths[2-damaged:] {
					write(t, path, string(spoil(read(t, path))))
				}
				said := ""
				r := p.end(func(w *work) { w.Log = func(s string) { said += s } })
				switch from := map[int]int{1: 8, 2: 0}[damaged]; {
				case p.steps != r.Steps-from:
					t.Errorf("%s, %d of them: p.steps is %d; want %d", name, damaged, p.steps, r.Steps-from)
				case r.ModelSHA256 != want.ModelSHA256:
					t.Errorf("%s, %d of them: r.ModelSHA256 is %q; want %q", name, damaged, r.ModelSHA256, want.ModelSHA256)
				case !strings.Contains(said, newest):
					t.Errorf("%s, %d of them: said is %q; want %q in it", name, damaged, said, newest)
				}
			}
		})
	}
}

// TestOtherConfigurationIsRefused finds the checkpoint of another learning rate in the run's
// folder.
func TestOtherConfigurationIsRefused(t *testing.T) {
	p := newPlayed(t)
	p.stop(2, nil)
	from := p.dir()
	p.c.Optimizer.LR *= 2
	must.Do(t, os.Rename(from, p.dir()))
	p.refused(ErrForeign, nil)
}

// TestStepTimesWithoutCompilation: the mean time of a step leaves out the steps for which programs
// are compiled.
func TestStepTimesWithoutCompilation(t *testing.T) {
	var s steadySteps
	if _, ok := s.millis(); ok {
		t.Error("a mean of no step")
	}
	for _, step := range []struct{ millis, compiled int }{{900, 3}, {2, 3}, {400, 5}, {4, 5}, {6, 5}} {
		s.add(time.Duration(step.millis)*time.Millisecond, step.compiled)
	}
	switch ms, ok := s.millis(); {
	case !ok:
		t.Errorf("%d steps of %g ms on average, want 3 of 4", s.Steps, ms)
	case s.Steps != 3:
		t.Errorf("s.Steps is %d; want 3", s.Steps)
	case math.Abs(ms-4) > 1e-9:
		t.Errorf("math.Abs(ms-4) is %g; want at most 1e-9", math.Abs(ms-4))
	}

	r := must.Get(made(t.Context(), blobConfig("avggrad"), work{Schedule: Schedule{Machine: onBlobs(t)}}))(t)
	if r.Measured.Compilations == 0 || !(r.Measured.StepMillis > 0) {
		t.Errorf("a step takes %g ms, with %d compilations", r.Measured.StepMillis, r.Measured.Compilations)
	}
}

// TestJoinedRowsAreCountedOnce: a composition of AvgGrad has two memory rows, which the rule sees
// as one.
func TestJoinedRowsAreCountedOnce(t *testing.T) {
	r := must.Get(made(t.Context(), blobConfig("avggrad+der-pp"), work{Schedule: Schedule{Machine: onBlobs(t)}}))(t)
	checkFigures(t, r)
	for _, k := range r.PerK {
		if math.Abs(k.SumW.Mean-1) > 1e-9 {
			t.Errorf("in steps of %d rows the weights add up to %g", k.K, k.SumW.Mean)
		}
	}
}

// TestMethodsLearn runs each method to the end and checks that the result has what docs/protocol.md
// §4 lists.
func TestMethodsLearn(t *testing.T) {
	m := onBlobs(t)
	for _, name := range []string{"avggrad", "sum", "mgda", "emgd-gmc", "emgd-gs", "er"} {
		t.Run(name, func(t *testing.T) {
			c := blobConfig(name)
			r, err := made(t.Context(), c, work{Schedule: Schedule{Machine: m}})
			if err != nil {
				t.Fatal(err)
			}
			if r.A < 80 {
				t.Errorf("A = %.1f %%, want at least 80", r.A)
			}
			switch {
			case r.ModelSHA256 == "":
				t.Error("the result lacks its identity: r.ModelSHA256 is empty")
			case r.MemorySHA256 == "":
				t.Error("the result lacks its identity: r.MemorySHA256 is empty")
			case r.ID != c.ID():
				t.Errorf("the result lacks its identity: r.ID is %q; want %q", r.ID, c.ID())
			}
			checkFigures(t, r)
		})
	}
}

// checkFigures computes a result's figures anew from its curve of accuracies.
func checkFigures(t *testing.T, r *results.Run) {
	t.Helper()
	accuracy := map[int]map[int]float64{} // step, task
	for _, p := range r.Curve {
		accuracy[p.Step] = map[int]float64{}
		for i, acc := range p.Acc {
			if acc != nil {
				accuracy[p.Step][i+1] = *acc
			}
		}
	}
	last, final, forgotten := 0, 0.0, 0.0
	for _, task := range r.Tasks {
		last = max(last, task.End)
	}
	for _, task := range r.Tasks {
		final += 100 * accuracy[last][task.ID] / float64(len(r.Tasks))
		forgotten += 100 * (accuracy[last][task.ID] - accuracy[task.End][task.ID]) / float64(len(r.Tasks))
	}
	switch {
	case math.Abs(r.A-final) > 1e-9:
		t.Errorf("%s: math.Abs(r.A-final) is %g; want at most 1e-9", r.Method, math.Abs(r.A-final))
	case math.Abs(r.F-forgotten) > 1e-9:
		t.Errorf("%s: math.Abs(r.F-forgotten) is %g; want at most 1e-9", r.Method, math.Abs(r.F-forgotten))
	case math.Abs(r.AFirst-(final-forgotten)) > 1e-9:
		t.Errorf("%s: math.Abs(r.AFirst-(final-forgotten)) is %g; want at most 1e-9", r.Method,
			math.Abs(r.AFirst-(final-forgotten)))
	}
	checkAccuracies(t, r)
	rows, steps := 0, 0
	for _, k := range r.PerK {
		steps += k.Steps
		rows += k.K * k.Steps
	}
	tasks := 0 // steps in which each task took part, without the memory's row
	for _, task := range r.Tasks {
		tasks += task.End - task.Start + 1
	}
	switch {
	case r.Steps != last+1:
		t.Errorf("%s: r.Steps is %d; want %d", r.Method, r.Steps, last+1)
	case steps != r.Steps:
		t.Errorf("%s: steps is %d; want %d", r.Method, steps, r.Steps)
	case rows < tasks:
		t.Errorf("%s: rows is %d; want at least %d", r.Method, rows, tasks)
	case rows > tasks+steps:
		t.Errorf("%s: rows is %d; want at most %d", r.Method, rows, tasks+steps)
	}
}

// checkAccuracies compares the result's figures with the stored accuracies of tasks, and these with
// those of classes.
func checkAccuracies(t *testing.T, r *results.Run) {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Errorf("%s: %v", r.Method, err)
	}
	for _, task := range r.Tasks {
		end, final, n := 0.0, 0.0, 0
		for j, c := range task.ByClass {
			switch {
			case c.Class != task.Classes[j]:
				t.Errorf("%s, task %d: c.Class is %d; want %d", r.Method, task.ID, c.Class, task.Classes[j])
			case c.Test == 0:
				t.Errorf("%s, task %d: c.Test is 0", r.Method, task.ID)
			}
			end, final, n = end+c.AccEnd*float64(c.Test), final+c.AccFinal*float64(c.Test), n+c.Test
		}
		switch {
		case n != task.Test:
			t.Errorf("%s, task %d: n is %d; want %d", r.Method, task.ID, n, task.Test)
		case math.Abs(end/float64(n)-task.AccEnd) > 1e-9:
			t.Errorf("%s, task %d: math.Abs(end/float64(n)-task.AccEnd) is %g; want at most 1e-9", r.Method, task.ID,
				math.Abs(end/float64(n)-task.AccEnd))
		case math.Abs(final/float64(n)-task.AccFinal) > 1e-9:
			t.Errorf("%s, task %d: math.Abs(final/float64(n)-task.AccFinal) is %g; want at most 1e-9", r.Method, task.ID,
				math.Abs(final/float64(n)-task.AccFinal))
		}
	}
}

// TestPublishedScenario plays the scenario file of one run in another, and refuses it elsewhere.
func TestPublishedScenario(t *testing.T) {
	p := newPlayed(t)
	p.c = blobConfig("er")
	p.c.Timeline = 5
	first := p.end(nil)
	text := "dataset = \"blobs\"\nscenario = \"" + scenarioFile +
		"\"\nmethod = \"er\"\nhidden = [16, 8]\neval_every = 7\n" +
		"[optimizer]\nname = \"adam\"\nlr = 0.01\n[memory]\npolicy = \"fixed_total\"\nbudget = 24\n"
	again := must.Get(parseIn(p.dir(), text))(t)
	if again.ID() == p.c.ID() {
		t.Error("a drawn and a published scenario share an ID")
	}
	second := must.Get(made(t.Context(), again, work{Schedule: Schedule{Machine: p.w.Machine}}))(t)
	if first.ModelSHA256 != second.ModelSHA256 {
		t.Error("the published scenario gave another model than the drawn one")
	}
	if _, err := made(t.Context(), again,
		work{Schedule: Schedule{Machine: on(t, p.w.Machine.backend, pcltest.Blobs(8, 30, 10))}}); err == nil {
		t.Error("a scenario was played on a data set it was not made for")
	}
}

// TestTaskWithoutTestSamples: it is refused before anything is trained, with the names of its
// classes.
func TestTaskWithoutTestSamples(t *testing.T) {
	d, c := pcltest.Blobs(8, 40, 10), blobConfig("er")
	s := must.Get(NewScenario(c, d))(t)
	last := s.Tasks[len(s.Tasks)-1].Classes
	var pixels []uint8
	var labels []int32
	for i, l := range d.Test.Labels {
		if !slices.Contains(last, int(l)) {
			pixels, labels = append(pixels, d.Image(&d.Test, i)...), append(labels, l)
		}
	}
	d.Test.Pixels, d.Test.Labels = pixels, labels
	steps := 0
	_, err := made(t.Context(), c,
		work{Schedule: Schedule{Machine: on(t, pcltest.Backend(t, backend.Go), d), OnProgress: func(int, Progress) {
			steps++
		}}})
	if err == nil || steps != 0 {
		t.Errorf("%v after %d steps", expect.Text(err), steps)
	}
}

// TestProgress: it tells of every step and of the learner after it, and looking at that changes
// nothing, also when the run is taken up again.
func TestProgress(t *testing.T) {
	p := newPlayed(t)
	p.c = blobConfig("emgd-gmc")
	plain := p.end(nil)
	p.w.Dir = t.TempDir()
	steps := 0
	for _, stop := range []int{7, 0} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := p.w
		w.OnProgress = func(_ int, now Progress) {
			switch {
			case now.Report.Step != steps:
				t.Errorf("now.Report.Step is %d; want %d", now.Report.Step, steps)
			case now.Step != steps+1:
				t.Errorf("now.Step is %d; want %d", now.Step, steps+1)
			case now.Learner.Steps() != now.Step:
				t.Errorf("now.Learner.Steps() is %d; want %d", now.Learner.Steps(), now.Step)
			case now.Steps != plain.Steps:
				t.Errorf("now.Steps is %d; want %d", now.Steps, plain.Steps)
			}
			if _, err := now.Learner.Evaluate(1); err != nil {
				t.Error(err)
			}
			if steps++; steps == stop {
				cancel()
			}
		}
		r, err := made(ctx, p.c, w)
		if stop > 0 && !errors.Is(err, ErrInterrupted) ||
			stop == 0 && (err != nil || r.ModelSHA256 != plain.ModelSHA256 || steps != plain.Steps) {
			t.Fatalf("after %d steps of %d: %v", steps, plain.Steps, err)
		}
	}
}

// TestSideBySide: runs that are made at the same time are those of one after another, and an
// interrupt leaves them to be taken up.
func TestSideBySide(t *testing.T) {
	base := must.Get(DefaultConfig(table(t, filepath.Join(t.TempDir(), "t.csv"), 0)).OnData(t.Context(),
		datasets.Options{}))(t)
	var configs []Checked
	for _, c := range Vary(base, []string{"avggrad", "er"}, nil, 1, 2) {
		configs = append(configs, must.Get(c.Check())(t))
	}
	models := func(ctx context.Context, w work) (out [4]string, last error) {
		w.Machine = &Machine{Open: func(ctx context.Context) (*backend.Backend, error) {
			return backend.Open(ctx, backend.Options{Name: backend.Go})
		}}
		defer w.Machine.Close()
		for e, err := range Each(ctx, configs, w.Store, w.Schedule) {
			if last = err; err == nil {
				out[e.Index] = e.Run.ModelSHA256
			}
		}
		return out, last
	}
	want := must.Get(models(t.Context(), work{Store: Store{Dir: t.TempDir()}}))(t)
	ctx, interrupt := context.WithCancel(t.Context())
	w := work{Store: Store{Dir: t.TempDir()}, Schedule: Schedule{Jobs: 3, OnProgress: func(_ int, p Progress) {
		if p.Step == 2 {
			interrupt()
		}
	}}}
	if got, err := models(ctx, w); !errors.Is(err, ErrInterrupted) || got == want {
		t.Errorf("interrupted: %v, %v", got, expect.Text(err))
	}
	w.OnProgress = nil
	if got, err := models(t.Context(), w); err != nil || got != want {
		t.Errorf("side by side %v (%v), one after another %v", got, expect.Text(err), want)
	}
}
