package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/journal"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// withJournal is keepsAll with a journal, beside the file, and no saves meanwhile.
func withJournal(t testing.TB, file string) *Service {
	t.Helper()
	o := Options{File: file, SaveEvery: time.Hour, MaxWaiting: 64, Journal: file + "-journal"}
	return openedAs(t, o, func(o *pcl.Options) { o.Model, o.Memory.Budget = mlp(t, 4, 16), 1<<20 })
}

// said posts requests, which are answered with status 200.
func said(t *testing.T, s *Service, requests ...string) {
	t.Helper()
	for _, q := range requests {
		path, body, _ := strings.Cut(q, " ")
		if w := post(s.Handler(), t.Context(), path, strings.NewReader(body)); w.Code != 200 {
			t.Fatalf("%s: %d %s", q, w.Code, w.Body)
		}
	}
}

// some is a request with samples of a job's class.
func some(task, from, to int) string {
	var x, classes []string
	for i := from; i < to; i++ {
		v := (&job{number: task}).values(i)
		x, classes = append(x, fmt.Sprintf("[%g,%g,0,0,0,0,0,0]", v[0], v[1])), append(classes, fmt.Sprint(task-1))
	}
	return fmt.Sprintf(`/learn {"task": %d, "x": [%s], "classes": [%s]}`, task, strings.Join(x, ","),
		strings.Join(classes, ","))
}

// TestJournalVerbs: after a kill before the first save, all that was asked for is there.
func TestJournalVerbs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := withJournal(t, file)
	said(t, s, `/tasks {"classes": [0], "names": ["left"], "name": "a"}`, `/tasks {"classes": [1]}`,
		`/tasks {"classes": [2]}`, `/tasks {"classes": [3]}`)
	if w := post(s.Handler(), t.Context(), "/tasks", strings.NewReader(`{"classes": [9]}`)); w.Code != 400 {
		t.Errorf("a fifth output: %d %s", w.Code, w.Body)
	}
	said(t, s, some(1, 0, 40), some(2, 0, 50), some(4, 0, 60), `/pause {"task": 3}`, some(3, 0, 64),
		`/pause {"task": 2}`, `/resume {"task": 2}`, some(1, 40, 50), `/end {"task": 1}`,
		`/detach {"task": 4, "keep": true}`, `/reattach {"task": 4}`, some(4, 60, 70))
	for range 2 {
		s.unlock() // and nothing else, as a kill does
		s = withJournal(t, file)
	}
	c, stop := serving(t, s)
	eventually(t, "the first task does not end", func() bool { return c.tasks()[0].Ended })
	eventually(t, "the samples are not trained on", func() bool { return s.waiting(2)+s.waiting(4) == 0 })
	all := c.tasks()
	if len(all) != 4 || all[0].Name != "a" || all[0].Names[0] != "left" || all[1].Paused || !all[2].Paused ||
		all[3].Ended {
		t.Errorf("the tasks are %+v", all)
	}
	for i, want := range []int{50, 50, 64, 0} {
		if i == 3 {
			want = s.learner.Tasks()[3].Samples // what waited when it was detached is dropped
		}
		if *all[i].Saved != want {
			t.Errorf("task %d: %d samples are said to be saved, want %d", i+1, *all[i].Saved, want)
		}
	}
	if s.waiting(3) != 64 {
		t.Errorf("%d samples of the paused task wait, want 64", s.waiting(3))
	}
	if id := c.begin(0); id <= 5 {
		t.Errorf("the id %d was given again", id)
	}
	ask[any](c, "/resume", request{Task: 3})
	for _, id := range []int{2, 3, 4} {
		ask[any](c, "/end", request{Task: id})
	}
	eventually(t, "the tasks do not end", func() bool { return c.tasks()[3].Ended })
	stop()
	trained, _ := trainedOnce(t, s)
	for _, n := range trained {
		if n != 1 {
			t.Errorf("a sample was trained on %d times", n)
		}
	}
	for i := 60; i < 70; i++ {
		if trained[[2]int{4, i}] != 1 {
			t.Errorf("sample %d of the task that began again is not there", i)
		}
	}
}

// TestJournalPredicts: predictions know a task of the journal as soon as the service has it again,
// however long a step takes.
func TestJournalPredicts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := withJournal(t, file)
	said(t, s, `/tasks {"classes": [0, 1]}`)
	s.unlock()
	s = withJournal(t, file)
	must.Do(t, s.replay()) // and no training, as within a step
	said(t, s, `/predict {"x": [[0,0,0,0,0,0,0,0]]}`)
	s.unlock()
}

// TestJournalAfterTheEnd: a service that ended has all in its file, and may go on without its
// journal; one that was killed may not.
func TestJournalAfterTheEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := withJournal(t, file)
	_, err := New(opened(t, "").learner, Options{Journal: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "Options.File") {
		t.Errorf("a journal without a file: %v", err)
	}
	said(t, s, `/tasks {"classes": [0]}`, some(1, 0, 10))
	s.unlock()
	if _, err := New(withJournal(t, file+"-other").learner, Options{File: file}); err == nil ||
		!strings.Contains(err.Error(), file+"-journal") {
		t.Errorf("without the journal: %v", err)
	}
	s = withJournal(t, file)
	c, stop := serving(t, s)
	c.tasks()
	stop()
	without := must.Get(New(withJournal(t, file+"-third").learner, Options{File: file}))(t)
	if all := must.Get(without.list(t.Context()))(t).([]described); len(all) != 1 || *all[0].Saved != 10 {
		t.Errorf("the tasks are %+v", all)
	}
	without.unlock()
}

// TestJournalOfAnother: a journal is refused by another learner, and beside an older file.
func TestJournalOfAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := withJournal(t, file)
	said(t, s, `/tasks {"classes": [0]}`, some(1, 0, 10))
	must.Do(t, s.save())
	old := must.Get(os.ReadFile(file))(t)
	said(t, s, some(1, 10, 20))
	must.Do(t, s.save())
	said(t, s, some(1, 20, 30))
	s.unlock()
	must.Do(t, os.WriteFile(file+"-old", old, 0o666))
	for name, o := range map[string]Options{
		"older file": {File: file + "-old", Journal: file + "-journal"},
		"no file":    {File: file + "-none", Journal: file + "-journal"},
	} {
		if _, err := New(withJournal(t, file+name).learner, o); !errors.Is(err, journal.ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s = withJournal(t, file)
	c, stop := serving(t, s)
	if n := *c.tasks()[0].Saved; n != 30 {
		t.Errorf("%d samples, want 30", n)
	}
	stop()
}

// TestJournalCut: wherever a journal is cut, the service has what was complete before. A changed
// byte is refused, and named.
func TestJournalCut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := withJournal(t, file)
	said(t, s, `/tasks {"classes": [0]}`, some(1, 0, 3), some(1, 3, 5), `/end {"task": 1}`)
	s.unlock()
	segment := must.Get(filepath.Glob(file + "-journal/*.journal"))(t)[0]
	whole := must.Get(os.ReadFile(segment))(t)
	use := func(data []byte) (*Service, error) {
		name := filepath.Join(t.TempDir(), "service.pcl")
		must.Do(t, os.MkdirAll(name+"-journal", 0o777))
		must.Do(t, os.WriteFile(filepath.Join(name+"-journal", filepath.Base(segment)), data, 0o666))
		return New(opened(t, "").learner, Options{File: name, Journal: name + "-journal"})
	}
	had := map[int]bool{}
	for cut := len(whole); cut > 200; cut -= 7 {
		s, err := use(whole[:cut])
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		n := 0
		must.Do(t, s.journal.Each(func(_ uint64, text []byte) error {
			r, err := decodeRecord(text)
			if r.Verb == "learn" {
				n += len(r.Classes)
			}
			return err
		}))
		had[n] = true
		s.unlock()
	}
	if len(had) != 3 || !had[0] || !had[3] || !had[5] {
		t.Errorf("cut journals have %v samples", had)
	}
	whole[len(whole)/2] ^= 1
	if _, err := use(whole); !errors.Is(err, journal.ErrDamaged) ||
		!strings.Contains(err.Error(), filepath.Base(segment)) {
		t.Errorf("a changed byte: %v", err)
	}
}

// TestJournalMakesSaves: a long journal is a reason to save.
func TestJournalMakesSaves(t *testing.T) {
	s := withJournal(t, filepath.Join(t.TempDir(), "service.pcl"))
	s.early = 1000
	c, stop := serving(t, s)
	id := c.begin(0, 1)
	eventually(t, "the journal stays long", func() bool {
		c.learn(id, 64, 0, 1)
		_, err := os.Stat(s.options.File)
		return err == nil && s.journal.Bytes() < 10_000
	})
	stop()
}

// TestJournalReplayStops: a service that ends while it does again what its journal has leaves the
// rest to the next one.
func TestJournalReplayStops(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	c, _, kill := killedAs(t, file, "SERVE_JOURNAL="+file+"-journal", "SERVE_SAVE_EVERY=1h")
	id := c.begin(0)
	for i := range 40 {
		ask[any](c, "/learn", request{Task: id, X: repeated((&job{number: 1}).values(i)), Classes: make([]int, 32)})
	}
	kill()
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		must.Do(t, withJournal(t, file).Run(ctx, nil))
		cancel()
	}
	c, stop := serving(t, withJournal(t, file))
	if all := c.tasks(); len(all) != 1 || *all[0].Saved != 40*32 {
		t.Errorf("the tasks are %+v", all)
	}
	stop()
}

func repeated(x []float32) (all [][]float32) {
	for range 32 {
		all = append(all, x)
	}
	return all
}

// TestBackup: what a service had acknowledged before a backup is in what is restored from it,
// whatever it does meanwhile.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "service.pcl")
	s := withJournal(t, file)
	s.options.SaveEvery = 10 * time.Millisecond
	c, stop := serving(t, s)
	id := c.begin(0, 1)
	for i := range 10 {
		c.learn(id, 100, 0, 1)
		copied := filepath.Join(dir, fmt.Sprint("backup", i))
		must.Do(t, Backup(s.options, copied))
		to := filepath.Join(dir, fmt.Sprint("restored", i), "service.pcl")
		o := Options{File: to, Journal: to + "-journal"}
		must.Do(t, Restore(copied, o))
		if err := Restore(copied, o); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("restored twice: %v", err)
		}
		if i%5 > 0 {
			continue
		}
		r := withJournal(t, to)
		again, stop := serving(t, r)
		if all := again.tasks(); *all[0].Saved != 100*(i+1) {
			t.Errorf("%d samples in backup %d", *all[0].Saved, i)
		}
		if next := again.begin(0); next <= id {
			t.Errorf("the id %d was given again", next)
		}
		stop()
	}
	stop()
	if err := Restore(file, Options{File: file + "2"}); err == nil {
		t.Error("a file of another kind was restored")
	}
	data := must.Get(os.ReadFile(filepath.Join(dir, "backup3")))(t)
	data[len(data)/2] ^= 1
	must.Do(t, os.WriteFile(filepath.Join(dir, "harmed"), data, 0o666))
	to := filepath.Join(dir, "harmed.pcl")
	if err := Restore(filepath.Join(dir, "harmed"), Options{File: to, Journal: to + "-journal"}); err == nil {
		t.Error("a damaged backup was restored")
	}
	if left := must.Get(filepath.Glob(to + "*/*"))(t); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if err := Backup(Options{File: filepath.Join(dir, "nothing")}, to); err == nil {
		t.Error("a backup of nothing")
	}
}
