package serve

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// steps is how many steps the service's learner has made.
func (s *Service) steps() int { return s.learner.Steps() }

// waiting is how many samples of a task wait.
func (s *Service) waiting(id int) int {
	stream, _ := s.streams.Load(id)
	return stream.(*data.PushStream).Len()
}

// TestPause: a paused task is not trained on, and neither is it after a restart, until it is
// resumed.
func TestPause(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := opened(t, file)
	c, stop := serving(t, s)
	id := c.begin(0, 1)
	c.learn(id, 64, 0, 1)
	eventually(t, "the samples are not trained on", func() bool { return s.waiting(id) == 0 && s.steps() > 0 })
	if got := c.raw("/pause", `{"task": 1}`); !strings.HasPrefix(got, "200 ") || !c.tasks()[0].Paused {
		t.Errorf("%s; the tasks are %+v", got, c.tasks())
	}
	c.learn(id, 64, 0, 1)
	stop()
	before := s.steps()
	s = opened(t, file)
	c, stop = serving(t, s)
	defer stop()
	time.Sleep(100 * time.Millisecond)
	if all := c.tasks(); !all[0].Paused || s.steps() != before {
		t.Errorf("%d steps, then %d; the tasks are %+v", before, s.steps(), all)
	}
	if got := c.raw("/resume", `{"task": 1}`); !strings.HasPrefix(got, "200 ") || c.tasks()[0].Paused {
		t.Errorf("%s; the tasks are %+v", got, c.tasks())
	}
	eventually(t, "the resumed task is not trained on", func() bool { return s.waiting(id) == 0 && s.steps() > before })
}

// TestDetach: a detached task ends at once, who waits for room is told so, and it can begin again,
// also after a restart.
func TestDetach(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := opened(t, file)
	s.options.MaxWaiting = 64
	c, stop := serving(t, s)
	id := c.begin(0, 1)
	c.learn(id, 640, 0, 1)
	c.knows(0, 1)
	eventually(t, "the samples are not trained on", func() bool { return s.waiting(id) == 0 })
	c.raw("/pause", `{"task": 1}`)
	waited := make(chan string)
	go func() {
		body := `{"task": 1, "classes": [0` + strings.Repeat(",0", 199) + `], "x": [[1,0,0,0,0,0,0,0]` +
			strings.Repeat(",[1,0,0,0,0,0,0,0]", 199) + `]}`
		waited <- c.raw("/learn", body)
	}()
	eventually(t, "the stream is not full", func() bool { return s.waiting(id) == 64 })
	if got := c.raw("/detach", `{"task": 1}`); !strings.HasPrefix(got, "200 ") || !c.tasks()[0].Ended {
		t.Errorf("%s; the tasks are %+v", got, c.tasks())
	}
	got, taken := <-waited, 0
	if _, after, ok := strings.Cut(got, `"taken":`); ok {
		fmt.Sscan(after, &taken)
	}
	// a step may have been in progress
	if !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "task 1 was ended") || taken < 64 || taken == 200 {
		t.Errorf("who waited for room was told %s", got)
	}
	c.knows(0, 1)
	if s.learner.Memory().Len() == 0 {
		t.Error("nothing of the task is in the memory")
	}
	stop()
	s = opened(t, file)
	c, stop = serving(t, s)
	defer stop()
	if got := c.raw("/reattach", `{"task": 1}`); !strings.HasPrefix(got, "200 ") || c.tasks()[0].Ended {
		t.Errorf("%s; the tasks are %+v", got, c.tasks())
	}
	before := s.steps()
	c.learn(id, 64, 0, 1)
	eventually(t, "the task that began again is not trained on", func() bool { return s.steps() > before })
	c.raw("/detach", `{"task": 1, "keep": false}`)
	if all := c.tasks(); !all[0].Ended {
		t.Errorf("the tasks are %+v", all)
	}
}

// TestNetwork: the network of a service can be taken elsewhere, and predicts there what the service
// does.
func TestNetwork(t *testing.T) {
	s := opened(t, "")
	c, stop := serving(t, s)
	defer stop()
	c.learn(c.begin(0, 1), 640, 0, 1)
	c.raw("/end", `{"task": 1}`)
	eventually(t, "the task does not end", func() bool { return c.tasks()[0].Ended })
	c.knows(0, 1)
	dir := t.TempDir()
	get := func(path string) string {
		r := must.Get(http.Get(c.url + path))(t)
		defer r.Body.Close()
		file := filepath.Join(dir, filepath.Base(path))
		must.Do(t, os.WriteFile(file, must.Get(io.ReadAll(r.Body))(t), 0o666))
		return file
	}
	trained := must.Get(pcl.LoadNetwork(get("/network")))(t)
	p := must.Get(pcl.NewPredictor(s.learner.Options().Backend, s.learner.Options().Model, trained, 8))(t)
	defer p.Close()
	for class := range 2 {
		got := must.Get(p.Predict(sample(class, 1000)))(t)
		if want := c.predict(class)[0]; got[0].Class != class ||
			math.Abs(got[0].Probabilities[class]-want.Probabilities[class]) > 1e-5 {
			t.Errorf("class %d: %+v, the service says %+v", class, got[0], want)
		}
	}
	must.Do(t, must.Get(s.learner.Network())(t).SaveONNX(filepath.Join(dir, "want.onnx"), nil))
	want := must.Get(os.ReadFile(filepath.Join(dir, "want.onnx")))(t)
	if got, err := os.ReadFile(get("/network.onnx")); err != nil || string(got) != string(want) {
		t.Errorf("%v: %d bytes, want %d", err, len(got), len(want))
	}
}
