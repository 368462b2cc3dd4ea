package experiment

import (
	"context"
	"iter"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// play makes the steps of a scenario, from the learner's current step to the last, and yields the report of each.
// It attaches tasks when they arrive. While no stream runs, nothing is done: the next update comes when the next task
// arrives, and the report of each names its step of the timeline. It ends at the first error, which it yields; when ctx is cancelled, that is
// the context's error.
func play(ctx context.Context, s *scenario.Scenario, l *pcl.Learner, task func(id int) (pcl.Task, error)) iter.Seq2[*pcl.StepReport, error] {
	return func(yield func(*pcl.StepReport, error) bool) {
		for s.At(l.Steps()) <= s.LastStep() {
			r, err := playStep(ctx, s, l, task)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func playStep(ctx context.Context, s *scenario.Scenario, l *pcl.Learner, task func(id int) (pcl.Task, error)) (*pcl.StepReport, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := s.At(l.Steps())
	for id := l.Arrived() + 1; id <= len(s.Tasks) && s.Tasks[id-1].Start == now; id++ {
		t, err := task(id)
		if err == nil {
			_, err = l.Attach(t)
		}
		if err != nil {
			return nil, err
		}
	}
	r, err := l.Step()
	if err == nil {
		r.Step = now
	}
	return r, err
}
