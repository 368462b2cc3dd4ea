package pcl

import (
	"context"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// means returns the class means of a predictor.
func means(t testing.TB, p *Predictor) *rehearsal.Means {
	t.Helper()
	m, known := rehearsal.MeansOf(p.rule)
	if !known {
		t.Fatal("the predictor has no class means")
	}
	return m
}

// TestPreview: while tasks run, a preview has the means of few samples at the present parameters,
// and when none runs it is a snapshot. It changes nothing in the run.
func TestPreview(t *testing.T) {
	d := pcltest.Blobs(4, 100, 20)
	train := func(previews bool) (*Learner, *Predictor) {
		l := smallLearner(t, pcltest.Backend(t, backend.Go), "emgd", Options{Increment: "class"})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		attach(t, l, blobTask(t, d, 2, 2, 3))
		var last *Predictor
		for range 10 {
			steps(t, l, 1)
			if previews {
				last = must.Get(l.Preview())(t)
			}
		}
		return l, last
	}
	plain, _ := train(false)
	l, preview := train(true)
	if want, got := must.Get(plain.Parameters())(t), must.Get(l.Parameters())(t); !slices.Equal(want, got) {
		t.Error("previews change the parameters")
	}
	all := must.Get(l.Snapshot())(t)
	if !preview.preview || all.preview {
		t.Error("the preview is none, or the snapshot is one")
	}
	if !all.Newer(preview) || preview.Newer(all) {
		t.Error("a snapshot does not take the place of the preview of the same step")
	}
	few, many := means(t, preview), means(t, all)
	if slices.Equal(few.Values[0], many.Values[0]) {
		t.Error("the preview's means are those of all samples")
	}
	for i := range many.Classes {
		cosine := float32(0)
		for k, x := range many.Values[i] {
			cosine += x * few.Values[i][k]
		}
		if few.Classes[i] != many.Classes[i] || cosine < 0.95 {
			t.Errorf("class %d: its mean of few samples has a cosine of %g with that of all", many.Classes[i], cosine)
		}
	}
	if p := must.Get(l.Preview())(t); p.preview {
		t.Error("a preview takes few samples after a snapshot of the same parameters has taken all")
	}
	must.Do(t, l.Detach(1, true))
	must.Do(t, l.Detach(2, true))
	if p := must.Get(l.Preview())(t); p.preview {
		t.Error("a preview takes few samples when no task runs")
	}
}

// TestPreviewOfFew: with few samples a preview predicts as a snapshot does, to the bit.
func TestPreviewOfFew(t *testing.T) {
	for _, increment := range []string{"class", "task"} {
		t.Run(increment, func(t *testing.T) {
			d := pcltest.Blobs(4, PreviewSamples, 10)
			l := smallLearner(t, pcltest.Backend(t, backend.Go), "emgd", Options{Increment: increment})
			attach(t, l, blobTask(t, d, 1, 0, 1))
			steps(t, l, 1)
			preview, all := must.Get(l.Preview())(t), must.Get(l.Snapshot())(t)
			x, _ := flat(d.Select(&d.Test, 0, 0, 1), 64)
			pcltest.Equal(t, "predictions", must.Get(preview.PredictTask(1, x))(t), must.Get(all.PredictTask(1, x))(t))
		})
	}
}

// TestRunEndsWithAll: when no samples come any more, the hook is given a snapshot of all.
func TestRunEndsWithAll(t *testing.T) {
	d := pcltest.Blobs(2, 100, 20)
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "emgd", Options{Increment: "class"})
	stream := must.Get(NewPushStream(64, 300, []int{0, 1}))(t)
	attach(t, l, Task{Classes: []int{0, 1}, Stream: stream})
	x, class := flat(d.Select(&d.Train, 0, 0, 1), 64)
	must.Get(stream.Push(t.Context(), x, class...))(t)
	ctx, cancel := context.WithCancel(t.Context())
	previews := 0
	err := l.Run(ctx, Hooks{WaitForTasks: true, Snapshot: func(p *Predictor) {
		if p.preview {
			previews++
		} else if stream.Len() == 0 && p.Steps() > 0 {
			cancel()
		}
	}})
	if ctx.Err() == nil || previews == 0 {
		t.Errorf("%d previews, %v", previews, err)
	}
}

// TestProgramsStay: predictors of the same network share their programs, and those of the same
// parameters a copy of these.
func TestProgramsStay(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(4, 60, 20)
		l := smallLearner(t, b, "emgd-gmc", Options{Increment: "class"})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		steps(t, l, 1)
		first := must.Get(l.Snapshot())(t)
		attach(t, l, blobTask(t, d, 2, 2, 3))
		same := must.Get(l.Snapshot())(t)
		steps(t, l, 1)
		later := must.Get(l.Snapshot())(t)
		network := must.Get(later.Network())(t)
		loaded := must.Get(NewPredictor(b, l.Options().Model, network, l.Options().Batch))(t)
		for _, p := range []*Predictor{same, later, loaded} {
			if p.sets[p.many][0] != first.sets[first.many][0] || p.sets[1][0] != first.sets[1][0] {
				t.Error("a predictor has programs of its own")
			}
		}
		if same.theta != first.theta || later.theta == first.theta || loaded.theta == later.theta {
			t.Error("the parameters are not copied when they have changed, or copied when they have not")
		}
		must.Do(t, l.SetNetwork(network))
		if p := must.Get(l.Snapshot())(t); p.theta == later.theta {
			t.Error("the parameters are not copied when they were replaced")
		}
		x, _ := flat(d.Select(&d.Test, 0, 0, 1), 64)
		want := must.Get(first.Predict(x))(t)
		same.Close()
		pcltest.Equal(t, "predictions after the other one was closed", must.Get(first.Predict(x))(t), want)
		pcltest.Equal(t, "predictions of the network", must.Get(loaded.Predict(x))(t), must.Get(later.Predict(x))(t))
	})
}
