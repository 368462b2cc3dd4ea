package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// isWhole says whether the learner has all that the journal had at the start.
func (s *Service) isWhole() bool { return isClosed(s.whole) }

// awaitWhole waits until the learner is there, and has all that the journal had at the start.
func (s *Service) awaitWhole(ctx context.Context) error {
	if err := s.await(ctx, s.ready); err != nil {
		return err
	}
	return s.await(ctx, s.whole)
}

// replay does again what the journal has and the saved state has not, in the same order, while the
// learner trains. Nobody else changes the learner meanwhile.
func (s *Service) replay() error {
	ended := map[int]bool{}
	err := s.journal.Each(func(number uint64, text []byte) error {
		r, err := decodeRecord(text)
		if err == nil {
			err = s.awaitTurn(r, ended)
		}
		if err == nil {
			err = s.again(number, r)
		}
		if err != nil {
			return fmt.Errorf("record %d of the journal (%s, task %d): %w", number, r.Verb, r.Task, err)
		}
		ended[r.Task] = r.Verb == "end"
		return nil
	})
	if err == nil {
		err = s.skipGiven()
	}
	if err == nil {
		close(s.whole)
	}
	return err
}

// awaitTurn waits until a record can be done again. Training lags behind the requests that the
// journal has, and a task that had ended may still run.
func (s *Service) awaitTurn(r record, ended map[int]bool) error {
	own, _ := s.stream(onTask{r.Task})
	if own != nil && (r.Verb == "detach" || r.Verb == "reattach") {
		_ = s.learner.Resume(r.Task)
		if r.Verb == "reattach" {
			own.End()
		}
	}
	for !s.isTurn(r, own, ended) {
		select {
		case <-s.ending.Done():
			return s.ending.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// isTurn says whether a record can be done again.
func (s *Service) isTurn(r record, stream *data.PushStream, ended map[int]bool) bool {
	switch {
	case r.Verb != "tasks" && stream == nil: // it has ended, as it had then
	case r.Verb == "learn": // samples of a paused task are not trained on, whatever waits
		if stream.Len() == 0 || stream.Len()+len(r.Classes) <= s.options.MaxWaiting {
			return true
		}
		t, err := s.task(r.Task)
		return err != nil || t.Paused || t.Ended
	case r.Verb == "detach": // what had been trained on is trained on again
		t, err := s.task(r.Task)
		return err != nil || t.Ended || t.Samples >= r.Fetched || stream.Len() == 0
	case r.Verb == "reattach":
		t, err := s.task(r.Task)
		return err != nil || t.Ended
	case r.Verb == "tasks":
		running, ending := 0, false
		for _, t := range s.learner.Tasks() {
			if !t.Ended {
				running++
				ending = ending || ended[t.ID]
			}
		}
		return running < s.options.MaxTasks || !ending
	}
	return true
}

// again does a record again.
func (s *Service) again(number uint64, r record) error {
	s.still.RLock()
	defer s.still.RUnlock()
	stream, ended := s.stream(onTask{r.Task})
	var err error
	switch {
	case r.Verb == "begins": // it was tried whether the journal can be written
	case r.Verb == "tasks":
		err = s.attachAgain(r)
	case r.Verb == "reattach":
		var task pcl.Task
		if task, err = s.reattached(r.Task); err == nil {
			s.streams.Store(r.Task, task.Stream)
		}
	case ended != nil: // it has ended, as it had then
	case r.Verb == "learn":
		if err = stream.Check(r.values, r.Classes...); err == nil && stream.Fill(0, r.values, r.Classes...) == nil {
			s.saved.add(r.Task, len(r.Classes))
		}
	case r.Verb == "end":
		stream.End()
	case r.Verb == "pause":
		_ = s.learner.Pause(r.Task) // it may have ended
	case r.Verb == "resume":
		_ = s.learner.Resume(r.Task)
	case r.Verb == "detach":
		if t, _ := s.task(r.Task); !t.Ended {
			err = s.learner.DetachContext(s.ending, r.Task, r.Keep)
		}
		s.streams.Delete(r.Task)
		stream.End()
		s.countFetched(r.Task)
	default:
		err = errors.New("unknown: it was written by a newer version")
	}
	if err == nil {
		s.replayed = number
	}
	return err
}

// attachAgain begins a task with the id that it had, unless the file or the program had it.
func (s *Service) attachAgain(r record) error {
	if _, err := s.task(r.Task); err == nil {
		return nil
	}
	task, err := s.newTask(r.Name, r.Classes, r.Names)
	if err == nil {
		err = s.learner.SkipIDs(r.Task - 1)
	}
	if err == nil {
		_, err = s.learner.AttachContext(s.ending, task)
	}
	if err != nil {
		return err
	}
	s.streams.Store(r.Task, task.Stream)
	s.saved.set(r.Task, 0)
	return s.renew() // a step may take long, and predictions know the task at once
}
