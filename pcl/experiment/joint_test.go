package experiment

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestJoint: a joint run trains on one stream of all samples and is tested on the tasks of its
// situation, among the classes of each or among all; one that was interrupted ends the same.
func TestJoint(t *testing.T) {
	m, base := onBlobs(t), blobConfig("emgd-gmc")
	base.EvalEvery = 0
	runOf := func(t *testing.T, c Config) *results.Run {
		return must.Get(made(t.Context(), c, work{Schedule: Schedule{Machine: m}}))(t)
	}
	for _, increment := range []string{"task", "class"} {
		t.Run(increment, func(t *testing.T) {
			apart := base
			apart.Increment = increment
			run := runOf(t, apart)
			joint := runOf(t, apart.AllAtOnce(2))
			if !joint.Joint() || !joint.Beside() || run.Beside() || joint.Label() != "avggrad joint beside" {
				t.Errorf("%q and %q", joint.Label(), run.Label())
			}
			samples := 0
			for i, task := range run.Tasks {
				own := joint.Tasks[i]
				samples += task.Train
				if !slices.Equal(own.Classes, task.Classes) || own.Test != task.Test || own.End != joint.Steps-1 {
					t.Errorf("task %d is %+v, want the classes and the test of %+v", i+1, own, task)
				}
				if own.AccFinal != own.AccEnd || own.LossLast >= own.LossFirst {
					t.Errorf("task %d: %+v", i+1, own)
				}
			}
			if want := (samples + apart.Batch - 1) / apart.Batch * 2 * apart.Epochs; joint.Steps != want {
				t.Errorf("%d steps, want %d", joint.Steps, want)
			}
			if ended := joint.Curve[len(joint.Curve)-1].Ended; len(ended) != len(run.Tasks) || joint.Measured.StoredBytes != 0 {
				t.Errorf("ended %v, %d bytes are stored", ended, joint.Measured.StoredBytes)
			}
			dir := t.TempDir()
			ctx, stop := context.WithCancel(t.Context())
			_, err := made(ctx, apart.AllAtOnce(2), work{Store: Store{Dir: dir}, Schedule: Schedule{Machine: m,
				OnProgress: func(_ int, p Progress) {
					if p.Step == 3 {
						stop()
					}
				}}})
			if stop(); !errors.Is(err, ErrInterrupted) {
				t.Fatal(err)
			}
			resumed := must.Get(made(t.Context(), apart.AllAtOnce(2),
				work{Store: Store{Dir: dir}, Schedule: Schedule{Machine: m}}))(t)
			if resumed.ModelSHA256 != joint.ModelSHA256 || resumed.A != joint.A || resumed.Measured.Resumed != 1 {
				t.Errorf("resumed %d times: A %g, want %g", resumed.Measured.Resumed, resumed.A, joint.A)
			}
		})
	}
	t.Run("task and class have one model", func(t *testing.T) {
		task, class := base, base
		task.Increment, class.Increment = "task", "class"
		a, b := runOf(t, task.AllAtOnce(1)), runOf(t, class.AllAtOnce(1))
		if a.ModelSHA256 != b.ModelSHA256 || a.A < b.A {
			t.Errorf("%s with %g and %s with %g", a.ModelSHA256, a.A, b.ModelSHA256, b.A)
		}
	})
}
