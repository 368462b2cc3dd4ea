package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// get returns the status and the text of an answer.
func (c client) get(path string) string {
	c.t.Helper()
	r := must.Get(http.Get(c.url + path))(c.t)
	defer r.Body.Close()
	return fmt.Sprintf("%d %s", r.StatusCode, strings.TrimSpace(string(must.Get(io.ReadAll(r.Body))(c.t))))
}

// trained leaves the file of a service that knows two classes.
func trained(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "my.pcl")
	c, stop := serving(t, opened(t, file))
	c.learn(c.begin(0, 1), 300, 0, 1)
	c.knows(0, 1)
	stop()
	return file
}

// started runs a service whose learner is not made before let is called. stop ends it, and returns
// the error of Run.
func started(t *testing.T, o Options) (c client, let func(), stop func() error) {
	t.Helper()
	may := make(chan struct{})
	s := must.Get(Start(func(ctx context.Context) (*pcl.Learner, error) {
		select {
		case <-may:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return opened(t, "").learner, nil
	}, o))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	return client{t, "http://" + listener.Addr().String()}, func() { close(may) }, func() error {
		cancel()
		return <-ended
	}
}

// TestAnswersEarly: after a start predictions are those of the saved network until the learner is
// there, and other requests wait for it.
func TestAnswersEarly(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(network string) error
		early bool
	}{
		{"saved", func(string) error { return nil }, true},
		{"no saved network", os.Remove, false},
		{"a damaged network", func(name string) error { return os.WriteFile(name, []byte("half"), 0o666) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := trained(t)
			must.Do(t, c.spoil(networkFile(file)))
			cl, let, stop := started(t, Options{File: file})
			want := `200 {"ready":true,"missing":["training"]}`
			if !c.early {
				want = `503 {"ready":false,"missing":["predictions","training"]}`
			}
			if got := cl.get("/readyz"); got != want {
				t.Errorf("%s; want %s", got, want)
			}
			if c.early {
				cl.knows(0, 1)
			}
			began := make(chan int)
			go func() { began <- cl.begin(2, 3) }()
			if !c.early {
				go cl.knows(0, 1)
			}
			let()
			if id := <-began; id != 2 {
				t.Errorf("task %d begins", id)
			}
			if got := cl.get("/readyz"); got != `200 {"ready":true,"missing":[]}` {
				t.Error(got)
			}
			cl.learn(2, 300, 2, 3)
			cl.knows(0, 1, 2, 3)
			must.Do(t, stop())
		})
	}
}

// TestEndsEarly: a service ends without a learner, and leaves its file as it is.
func TestEndsEarly(t *testing.T) {
	file := trained(t)
	before := must.Get(os.ReadFile(file))(t)
	_, _, stop := started(t, Options{File: file})
	must.Do(t, stop())
	if !slices.Equal(before, must.Get(os.ReadFile(file))(t)) {
		t.Error("the file is another one")
	}
	broken := errors.New("no memory")
	s := must.Get(Start(func(context.Context) (*pcl.Learner, error) { return nil, broken }, Options{File: file}))(t)
	if err := s.Run(t.Context(), must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	c, stopAll := serving(t, opened(t, file))
	c.knows(0, 1)
	stopAll()
}

// TestLearnerInUse: the program goes on using the learner, and its tasks are there for requests.
func TestLearnerInUse(t *testing.T) {
	learner := opened(t, "").learner
	pushed := must.Get(data.NewPushStream(8, 64, []int{0, 1}))(t)
	must.Get(learner.Attach(pcl.Task{Name: "own", Classes: []int{0, 1}, Stream: pushed}))(t)
	c, stop := serving(t, must.Get(New(learner, Options{}))(t))
	defer stop()
	must.Get(learner.Attach(pcl.Task{Classes: []int{2}, Stream: &slow{}}))(t)
	c.learn(1, 100, 0, 1)
	for i := range 100 {
		must.Get(pushed.Push(t.Context(), sample(i%2, i), i%2))(t)
	}
	third := c.begin(3)
	c.learn(third, 100, 3)
	c.knows(0, 1, 3)
	if third != 3 || c.tasks()[0].Name != "own" {
		t.Errorf("task %d begins; the tasks are %+v", third, c.tasks())
	}
	if got := c.raw("/learn", `{"task": 2, "x": [[0,0,1,0,0,0,0,0]], "classes": [2]}`); !strings.HasPrefix(got, "400") ||
		!strings.Contains(got, "a stream of the program's own") {
		t.Error(got)
	}
	if err := c.try("/detach", request{Task: 1}, new(struct{})); err != nil {
		t.Error(err)
	}
}

// slow is a stream that has no samples yet.
type slow struct{}

func (*slow) Next(*data.Batch) error { return data.ErrNotReady }

// TestReplaces: a learner that has begun does not replace one in the file that is further.
func TestReplaces(t *testing.T) {
	file := trained(t)
	for _, c := range []struct {
		name  string
		begin func(*pcl.Learner) error
		may   bool
	}{
		{"a learner of its own", func(l *pcl.Learner) error {
			return second(l.Attach(pcl.Task{Classes: []int{2}, Stream: must.Get(data.NewPushStream(8, 64, []int{2}))(t)}))
		}, false},
		{"loaded from the file", func(l *pcl.Learner) error {
			return l.Load(file, func(int) (pcl.Task, error) {
				stream, err := data.NewPushStream(8, 64, []int{0, 1})
				return pcl.Task{Classes: []int{0, 1}, Stream: stream}, err
			})
		}, true},
		{"new", func(*pcl.Learner) error { return nil }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			learner := opened(t, "").learner
			must.Do(t, c.begin(learner))
			s, err := New(learner, Options{File: file})
			if (err == nil) != c.may {
				t.Fatalf("error %v", err)
			}
			if err == nil {
				cl, stop := serving(t, s)
				cl.knows(0, 1)
				stop()
			}
		})
	}
}

// TestStartOwnNetwork: a network of one's own is named in the options.
func TestStartOwnNetwork(t *testing.T) {
	file := trained(t)
	c, _, stop := started(t, Options{File: file, Model: mlp(t, 4, 128, 64)})
	c.knows(0, 1)
	must.Do(t, stop())
	c, _, stop = started(t, Options{File: file, Model: mlp(t, 4, 128)}) // another network than the saved one
	if got := c.get("/readyz"); !strings.HasPrefix(got, "503") {
		t.Error(got)
	}
	must.Do(t, stop())
}

// TestHandlerBeforeTheLearner: every request works when the handler is older than the learner.
func TestHandlerBeforeTheLearner(t *testing.T) {
	c, let, stop := started(t, Options{})
	let()
	task := c.begin(0, 1)
	c.learn(task, 64, 0, 1)
	for _, verb := range []string{"pause", "resume", "end"} {
		if err := c.try("/"+verb, request{Task: task}, new(any)); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	other := c.begin(2, 3)
	for _, verb := range []string{"detach", "reattach"} {
		if err := c.try("/"+verb, request{Task: other}, new(any)); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	for _, path := range []string{"/", "/tasks", "/network", "/network.onnx", "/livez", "/readyz", "/metrics"} {
		if got := c.get(path); !strings.HasPrefix(got, "200 ") {
			t.Errorf("%s: %.100s", path, got)
		}
	}
	must.Do(t, stop())
}
