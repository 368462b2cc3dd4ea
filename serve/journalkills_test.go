package serve

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
)

// keeper is a client that sends each sample until it is acknowledged, and keeps none that was.
type keeper struct {
	class    int
	jobs     []*kept
	answered *atomic.Int64 // samples that were acknowledged
	refused  *atomic.Int64 // requests that the journal could not take
}

// kept is a job whose task has its number as a name.
type kept struct {
	number, id   int // no id before one was answered
	acknowledged int
	ended        bool
}

// goOn works until the service does not answer any more or, if there are to be no new jobs, all are
// done.
func (k *keeper) goOn(c client, more bool) error {
	all, err := c.list()
	if err != nil {
		return err
	}
	for _, j := range k.jobs {
		name := fmt.Sprint("job ", j.number) // perhaps of a task that was begun, and not answered
		at := slices.IndexFunc(all, func(d described) bool {
			return d.ID == j.id || j.id == 0 && d.Name == name && !d.Ended && d.Saved != nil
		})
		switch {
		case at < 0 && j.id != 0:
			c.t.Errorf("task %d was answered, and is lost", j.id)
		case at < 0:
		case all[at].Saved == nil || *all[at].Saved < j.acknowledged:
			c.t.Errorf("task %d: %d samples were acknowledged: %+v", j.id, j.acknowledged, all[at])
		default:
			j.id, j.acknowledged = all[at].ID, *all[at].Saved
		}
		if at >= 0 && all[at].Paused {
			if err := k.ask(c, "/resume", request{Task: j.id}, new(any)); err != nil {
				return err
			}
		}
		if err := k.do(c, j); err != nil {
			return err
		}
	}
	for more {
		j := &kept{number: 4*len(k.jobs) + k.class}
		k.jobs = append(k.jobs, j)
		if err := k.do(c, j); err != nil {
			return err
		}
	}
	return nil
}

// do does what is left of a job.
func (k *keeper) do(c client, j *kept) error {
	if j.ended {
		return nil
	}
	if j.id == 0 {
		var begun struct{ ID int }
		r := request{Name: fmt.Sprint("job ", j.number), Classes: []int{k.class}}
		if err := k.ask(c, "/tasks", r, &begun); err != nil {
			return err
		}
		j.id = begun.ID
	}
	for j.acknowledged < jobSamples {
		r := request{Task: j.id}
		for i := j.acknowledged; i < min(jobSamples, j.acknowledged+1+rand.IntN(40)); i++ {
			r.X, r.Classes = append(r.X, (&job{number: j.number}).values(i)), append(r.Classes, k.class)
		}
		var done learnt
		if err := k.ask(c, "/learn", r, &done); err != nil {
			return err
		}
		j.acknowledged += done.Taken
		k.answered.Add(int64(done.Taken))
		if done.Saved != j.acknowledged {
			c.t.Errorf("task %d: %+v, of %d samples", j.id, done, j.acknowledged)
		}
		if rand.IntN(8) == 0 {
			for _, path := range []string{"/pause", "/resume"} {
				if err := k.ask(c, path, request{Task: j.id}, new(any)); err != nil {
					return err
				}
			}
		}
	}
	err := k.ask(c, "/end", request{Task: j.id}, new(any))
	if err == nil || strings.Contains(err.Error(), "has ended") { // since a request to end it was not answered
		j.ended = true
		return nil
	}
	return err
}

// ask sends a request. What the journal could not take is asked for again, from where the service
// stands.
func (k *keeper) ask(c client, path string, r, out any) error {
	err := c.try(path, r, out)
	if err != nil && strings.Contains(err.Error(), "the journal cannot be written") {
		k.refused.Add(1)
		time.Sleep(5 * time.Millisecond)
		return errAgain
	}
	return err
}

var errAgain = errors.New("again")

// TestKillsWithJournal: however often a service is killed, and whenever the disk is full, nothing
// that it acknowledged is lost, and each sample is trained on exactly once, for its own task.
func TestKillsWithJournal(t *testing.T) {
	disk := t.TempDir()
	fills := smallDisk(t, disk)
	file, full := filepath.Join(disk, "service.pcl"), filepath.Join(disk, "full")
	t.Setenv("SERVE_JOURNAL", filepath.Join(disk, "journal"))
	answered, refused, filled := &atomic.Int64{}, &atomic.Int64{}, 0
	var all []*keeper
	for class := range 4 {
		all = append(all, &keeper{class: class, answered: answered, refused: refused})
	}
	for i := range *kills {
		t.Setenv("SERVE_SAVE_EVERY", []string{"10ms", "100ms", "1h"}[rand.IntN(3)])
		c, _, kill := killed(t, file)
		var work sync.WaitGroup
		lives := time.Duration(rand.IntN(500)) * time.Millisecond
		if fills && i%3 == 1 {
			filled++
			lives += 300 * time.Millisecond
			work.Go(func() {
				time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
				fill(full)
			})
		}
		time.AfterFunc(lives, kill)
		for _, k := range all {
			work.Go(func() {
				for errors.Is(k.goOn(c, true), errAgain) {
				}
			})
		}
		work.Wait()
		kill()
		os.Remove(full)
	}
	s := keepsAll(t, file)
	c, stop := serving(t, s)
	for _, k := range all {
		must.Do(t, k.goOn(c, false))
	}
	eventually(t, "the tasks do not end", func() bool {
		return !slices.ContainsFunc(c.tasks(), func(d described) bool { return !d.Ended })
	})
	stop()
	trained, of := trainedOnce(t, s)
	for _, k := range all {
		for _, j := range k.jobs {
			if of[j.id] != j.number {
				t.Errorf("task %d has job %d, not %d", j.id, of[j.id], j.number)
			}
			for i := range jobSamples {
				if n := trained[[2]int{j.number, i}]; n != 1 {
					t.Errorf("sample %d of job %d was trained on %d times", i, j.number, n)
				}
			}
		}
	}
	t.Logf("%d kills, %d on a full disk: %d samples acknowledged, %d requests refused; %d samples, each trained on "+
		"once",
		*kills, filled, answered.Load(), refused.Load(), len(trained))
}

// trainedOnce returns how often each sample of each job was trained on, and which job each task
// had.
func trainedOnce(t *testing.T, s *Service) (trained map[[2]int]int, of map[int]int) {
	trained, of = map[[2]int]int{}, map[int]int{}
	for i := range s.learner.Memory().Len() {
		it := s.learner.Memory().Item(i)
		number := int(1024 * it.Pixels[0])
		trained[[2]int{number, int(1024 * it.Pixels[1])}]++
		if was, ok := of[it.Task]; ok && was != number {
			t.Errorf("task %d has samples of the jobs %d and %d", it.Task, was, number)
		}
		of[it.Task] = number
	}
	return trained, of
}

// fill writes a file until the disk is full.
func fill(path string) {
	if f, err := os.Create(path); err == nil {
		_, _ = io.Copy(f, zeros{})
		f.Close()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
