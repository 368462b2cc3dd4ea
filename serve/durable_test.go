package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

var kills = flag.Int("kills", 3, "how often TestKillsUnderLoad kills the service")

// TestMain is a service that is to be killed if the environment names its file.
func TestMain(m *testing.M) {
	flag.Parse()
	if file := os.Getenv("SERVE_FILE"); file != "" {
		toBeKilled(file)
		return
	}
	os.Exit(m.Run())
}

// keepsAll is a service of a small network whose memory keeps every sample that was trained on.
func keepsAll(t testing.TB, file string) *Service {
	t.Helper()
	every, err := time.ParseDuration(cmp.Or(os.Getenv("SERVE_SAVE_EVERY"), "10ms"))
	must.Do(t, err)
	o := Options{File: file, SaveEvery: every, MaxWaiting: 64, Journal: os.Getenv("SERVE_JOURNAL")}
	return openedAs(t, o, func(o *pcl.Options) {
		o.Model, o.Memory.Budget = mlp(t, 4, 16), 1<<20
	})
}

func toBeKilled(file string) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(&testing.B{})
	s := opened
	if filepath.Base(file) != "crowd.pcl" {
		s = keepsAll
	}
	fmt.Println("http://" + listener.Addr().String())
	panic(s(&testing.B{}, file).Run(context.Background(), listener))
}

// killed runs a service in another process. kill ends it at once.
func killed(t *testing.T, file string) (c client, process int, kill func()) {
	t.Helper()
	return killedAs(t, file)
}

// killedAs is killed with more in its environment.
func killedAs(t *testing.T, file string, environment ...string) (c client, process int, kill func()) {
	t.Helper()
	p := exec.Command(os.Args[0])
	p.Env = append(append(os.Environ(), "SERVE_FILE="+file), environment...)
	said := must.Get(p.StdoutPipe())(t)
	must.Do(t, p.Start())
	end := sync.OnceFunc(func() { p.Process.Kill(); p.Wait() })
	t.Cleanup(end)
	var url string
	if _, err := fmt.Fscan(said, &url); err != nil || !strings.HasPrefix(url, "http://") {
		t.Fatalf("the service says %q: %v", url, err)
	}
	return client{t, url}, p.Process.Pid, end
}

// job is a task with samples of its own.
type job struct{ number, id, sent int }

const jobSamples = 100

// values tells which sample of which job it is.
func (j *job) values(i int) []float32 {
	return []float32{float32(j.number) / 1024, float32(i) / 1024, 0, 0, 0, 0, 0, 0}
}

// producer has jobs done. After each kill it asks where to go on, as docs/service.md says.
type producer struct {
	class int
	jobs  []*job
	ids   *sync.Map // all that any producer was given
}

// goOn works until the service does not answer any more or, if there are to be no new jobs, all are
// done.
func (p *producer) goOn(c client, more bool) error {
	all, err := c.list()
	if err != nil {
		return err
	}
	for _, j := range p.jobs {
		at := slices.IndexFunc(all, func(t described) bool { return t.ID == j.id })
		if at >= 0 {
			j.sent = *all[at].Saved
		} else if err := p.lost(c, j); err != nil {
			return err
		}
		if at >= 0 && all[at].Ended {
			continue
		}
		if err := p.do(c, j); err != nil {
			return err
		}
	}
	for more {
		j := &job{number: 4*len(p.jobs) + p.class}
		p.jobs = append(p.jobs, j)
		if err := errors.Join(p.begin(c, j), p.do(c, j)); err != nil {
			return err
		}
	}
	return nil
}

// lost begins a job again whose task the service has lost. The old id is nobody else's.
func (p *producer) lost(c client, j *job) error {
	err := c.try("/learn", request{Task: j.id, X: [][]float32{j.values(0)}, Classes: []int{p.class}}, new(any))
	if err == nil {
		return fmt.Errorf("task %d, which was lost, takes samples", j.id)
	}
	return p.begin(c, j)
}

func (p *producer) begin(c client, j *job) error {
	var begun struct{ ID int }
	if err := c.try("/tasks", request{Classes: []int{p.class}}, &begun); err != nil {
		return err
	}
	if _, was := p.ids.LoadOrStore(begun.ID, j); was {
		c.t.Errorf("the id %d was given again", begun.ID)
	}
	j.id, j.sent = begun.ID, 0
	return nil
}

// do sends what is left of a job.
func (p *producer) do(c client, j *job) error {
	for j.sent < jobSamples {
		r := request{Task: j.id}
		for i := j.sent; i < min(jobSamples, j.sent+1+rand.IntN(40)); i++ {
			r.X, r.Classes = append(r.X, j.values(i)), append(r.Classes, p.class)
		}
		var done struct{ Taken int }
		if err := c.try("/learn", r, &done); err != nil {
			return err
		}
		j.sent += done.Taken
	}
	err := c.try("/end", request{Task: j.id}, new(any))
	if err != nil && strings.Contains(err.Error(), "has ended") { // since a request to end it was not answered
		return nil
	}
	return err
}

// TestKillsUnderLoad: however often a service is killed, each sample of each job is trained on
// exactly once, for the task that its producer began, and no id is given twice.
func TestKillsUnderLoad(t *testing.T) {
	file, ids := filepath.Join(t.TempDir(), "service.pcl"), &sync.Map{}
	var all []*producer
	for class := range 4 {
		all = append(all, &producer{class: class, ids: ids})
	}
	for range *kills {
		c, _, kill := killed(t, file)
		time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, kill)
		var work sync.WaitGroup
		for _, p := range all {
			work.Go(func() { p.goOn(c, true) })
		}
		work.Wait()
		kill()
	}
	s := keepsAll(t, file)
	c, stop := serving(t, s)
	for _, p := range all {
		must.Do(t, p.goOn(c, false))
	}
	eventually(t, "the tasks do not end", func() bool {
		return !slices.ContainsFunc(c.tasks(), func(d described) bool {
			_, answered := ids.Load(d.ID)
			return answered && !d.Ended
		})
	})
	stop()
	trained, of := trainedOnce(t, s)
	jobs := 0
	for _, p := range all {
		for _, j := range p.jobs {
			for i := range jobSamples {
				if n := trained[[2]int{j.number, i}]; n != 1 || of[j.id] != j.number {
					t.Fatalf("sample %d of job %d was trained on %d times, and its task %d has job %d", i, j.number, n, j.id, of[j.id])
				}
			}
			jobs++
		}
	}
	t.Logf("%d kills, %d jobs, %d samples, each trained on once", *kills, jobs, len(trained))
	if len(trained) != jobs*jobSamples {
		t.Errorf("%d samples were trained on, of %d", len(trained), jobs*jobSamples)
	}
}

// TestIDsOfTheDead: ids are not given again after a kill without a save, nor after one in which the
// newest task was forgotten.
func TestIDsOfTheDead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	left := filepath.Join(filepath.Dir(file), ".service.pcl.123.tmp") // by a process that was killed while it saved
	must.Do(t, os.WriteFile(left, nil, 0o666))
	last := 0
	for range 3 {
		learner := opened(t, "").learner
		s := must.Get(New(learner, Options{File: file}))(t)
		for range 2 {
			w := post(s.Handler(), t.Context(), "/tasks", strings.NewReader(`{"classes": [0]}`))
			var id int
			if _, err := fmt.Sscanf(w.Body.String(), `{"id":%d}`, &id); err != nil || id <= last {
				t.Errorf("after task %d: %s", last, w.Body)
			}
			last = id
		}
		s.unlock() // and nothing else, as a kill does
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("a temporary file is left (%v)", err)
	}
	must.Do(t, os.WriteFile(file+".ids", []byte("many\n"), 0o666))
	if _, err := New(opened(t, "").learner, Options{File: file}); err == nil {
		t.Errorf("a damaged file of ids: %v", err)
	}
}

// TestLostTask: a task that was begun after the last save is lost by a kill, and whoever asks for
// it is told that, not that it has ended.
func TestLostTask(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := opened(t, file)
	post(s.Handler(), t.Context(), "/tasks", strings.NewReader(`{"classes": [0]}`))
	must.Do(t, s.save())
	post(s.Handler(), t.Context(), "/tasks", strings.NewReader(`{"classes": [0]}`))
	s.unlock() // and nothing else, as a kill does
	s = opened(t, file)
	post(s.Handler(), t.Context(), "/detach", strings.NewReader(`{"task": 1}`))
	for _, path := range []string{"/learn", "/end", "/pause", "/resume", "/detach", "/reattach"} {
		for id, want := range map[int]string{1: "has ended",
			2: "is not here: if it was begun, the service was stopped before it was saved", 64: "is not here",
			65: "there is no task 65", 0: "is missing", -1: "there is no task -1"} {
			if path == "/reattach" && id == 1 {
				continue
			}
			w := post(s.Handler(), t.Context(), path, strings.NewReader(fmt.Sprintf(`{"task": %d}`, id)))
			if w.Code != 400 || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s of task %d: %d %s, want %s", path, id, w.Code, w.Body, want)
			}
		}
	}
}

// TestSaveThatFails: a service that cannot be saved goes on, says so, and is saved when that is
// possible again.
func TestSaveThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	must.Do(t, os.Mkdir(dir, 0o777))
	s := opened(t, filepath.Join(dir, "service.pcl"))
	var said lines
	s.options.SaveEvery, s.options.Log = 20*time.Millisecond, slog.New(slog.NewTextHandler(&said, nil))
	c, stop := serving(t, s)
	task := c.begin(0, 1)
	if err := os.RemoveAll(dir); err != nil {
		stop()
		t.Skip("an open file cannot be removed here:", err)
	}
	must.Do(t, os.WriteFile(dir, nil, 0o666)) // in place of the folder
	c.learn(task, 64, 0, 1)
	eventually(t, "nothing was said", func() bool { return strings.Contains(said.String(), "was not saved, and goes on") })
	c.learn(task, 64, 0, 1)
	must.Do(t, os.Remove(dir))
	stop()
	if tasks, err := must.Get(pcl.LoadState(filepath.Join(dir, "service.pcl")))(t).Tasks(); err != nil || len(tasks) != 1 {
		t.Errorf("tasks %v, error %v", tasks, err)
	}
}

// lines is what a log was told.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestTwoOfOneFile: a second service of a file would go on from a state that is about to be
// replaced.
func TestTwoOfOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "folder", "service.pcl")
	first, second := opened(t, file), opened(t, "")
	if _, err := New(second.learner, Options{File: file}); err == nil {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.Do(t, first.Run(ctx, nil))
	must.Do(t, must.Get(New(second.learner, Options{File: file}))(t).Run(ctx, nil)) // after the end
}
