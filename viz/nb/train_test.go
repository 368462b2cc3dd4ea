package nb

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/viz"
)

// live is a small learner and what makes tasks for it.
func live(t *testing.T) (*pcl.Learner, func(id int, classes ...int) pcl.Task) {
	c := experiment.DefaultConfig("glyphs")
	c.Method, c.TrainPerClass, c.Hidden, c.Batch = "emgd-gmc", 64, []int{4}, 8
	g := experiment.New("glyphs", experiment.Options{Dir: t.TempDir(), Backend: backend.Go})
	t.Cleanup(func() { g.Close() })
	l, err := g.Learner(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, func(id int, classes ...int) pcl.Task {
		task, err := g.Task(context.Background(), c, id, classes...)
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
}

func attach(t *testing.T, l *pcl.Learner, task pcl.Task) {
	t.Helper()
	if _, err := l.Attach(task); err != nil {
		t.Fatal(err)
	}
}

// A training goes on while tasks come and go, and notes what happens.
func TestTrain(t *testing.T) {
	l, task := live(t)
	training := Train(l, pcl.Hooks{EvaluateEvery: 4})
	first := task(1, 0, 1)
	first.Name = "first"
	attach(t, l, first)
	if err := training.Wait(t.Context(), 3); err != nil || l.Steps() < 3 {
		t.Fatal(l.Steps(), expect.Text(err))
	}
	attach(t, l, task(2, 2, 3))
	if !strings.Contains(l.String(), "first") || !strings.Contains(training.String(), "first") {
		t.Errorf("%v; %v", l, training)
	}
	if err := training.Wait(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	training.Stop()
	run, records := training.Run(), training.Records()
	switch {
	case run.Steps != l.Steps():
		t.Errorf("run.Steps is %d; want %d", run.Steps, l.Steps())
	case len(records) != l.Steps():
		t.Errorf("len(records) is %d; want %d", len(records), l.Steps())
	case len(run.Tasks) != 2:
		t.Errorf("len(run.Tasks) is %d; want 2", len(run.Tasks))
	case run.Tasks[0].Name != "first":
		t.Errorf("run.Tasks[0].Name is %q; want %q", run.Tasks[0].Name, "first")
	case run.Tasks[1].Start < 3:
		t.Errorf("run.Tasks[1].Start is %d; want at least 3", run.Tasks[1].Start)
	}
	switch last := run.Curve[len(run.Curve)-1]; {
	case len(last.Acc) != 2:
		t.Errorf("len(last.Acc) is %d; want 2", len(last.Acc))
	case len(last.Ended) != 1:
		t.Errorf("len(last.Ended) is %d; want 1", len(last.Ended))
	}
	for _, err := range []error{
		errOf(viz.TaskCurves(run)), errOf(viz.Timeline(run)), errOf(viz.StreamWeights(records)), training.Watch(), Show(run),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func errOf(_ *viz.Figure, err error) error { return err }

// The same steps are made as by a learner that nobody watches.
func TestTrainIsRun(t *testing.T) {
	watched, task := live(t)
	alone, _ := live(t)
	attach(t, watched, task(1, 0, 1))
	attach(t, alone, task(1, 0, 1))
	training := Train(watched)
	for range 3 {
		training.Pause()
		training.Resume()
	}
	if err := errors.Join(training.Wait(t.Context(), 0), alone.Run(t.Context(), pcl.Hooks{})); err != nil {
		t.Fatal(err)
	}
	a, err := watched.State()
	b, other := alone.State()
	switch {
	case err != nil:
		t.Error(err)
	case other != nil:
		t.Error(other)
	case !reflect.DeepEqual(a, b):
		t.Errorf("a is %+v; want %+v", a, b)
	}
}

func TestTrainPauses(t *testing.T) {
	l, task := live(t)
	attach(t, l, task(1, 0, 1))
	training := Train(l, pcl.Hooks{OnStep: func(*pcl.StepReport) error { time.Sleep(time.Millisecond); return nil }})
	training.Pause()
	if err := training.Wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
	<-training.over // the step in progress
	at := l.Steps()
	time.Sleep(20 * time.Millisecond)
	if l.Steps() != at {
		t.Errorf("%d steps while it paused", l.Steps()-at)
	}
	training.Resume()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	expect.Refusal(t, "Wait", training.Wait(ended, 0), context.Canceled)
	if err := training.Wait(t.Context(), at+1); err != nil || l.Steps() <= at {
		t.Error(l.Steps(), expect.Text(err))
	}
	if Train(l) != training {
		t.Error("a learner has two trainings")
	}
}

// An error of the background, and a panic of a hook, ends the training until it is resumed.
func TestTrainFails(t *testing.T) {
	l, task := live(t)
	attach(t, l, task(1, 0, 1))
	wrong := errors.New("wrong")
	var steps atomic.Int64
	training := Train(l, pcl.Hooks{OnStep: func(*pcl.StepReport) error {
		switch steps.Add(1) {
		case 2:
			return wrong
		case 3:
			panic("worse")
		}
		return nil
	}})
	expect.Refusal(t, "Wait", training.Wait(t.Context(), 0), wrong)
	training.Resume()
	if err := training.Wait(t.Context(), 0); err == nil || errors.Is(err, wrong) {
		t.Error(expect.Text(err))
	}
	training.Resume()
	if err := training.Wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
}
