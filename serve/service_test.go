package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// sample is an image of eight pixels, of which the brightest tells the class.
func sample(class, i int) []float32 {
	x := make([]float32, 8)
	for p := range x {
		x[p] = float32((7*i+3*p)%11) / 20
	}
	x[class] = 1
	return x
}

// request has the keys of all requests.
type request struct {
	Name    string      `json:"name,omitempty"`
	Task    int         `json:"task,omitempty"`
	Classes []int       `json:"classes,omitempty"`
	Names   []string    `json:"names,omitempty"`
	X       [][]float32 `json:"x,omitempty"`
}

// client posts requests to a service.
type client struct {
	t   testing.TB
	url string
}

// post sends a request, and decodes the answer into out. It returns the error that the service answered with.
func (c client) post(path string, r, out any) (message string) {
	c.t.Helper()
	err := c.try(path, r, out)
	var refused refusal
	if err != nil && !errors.As(err, &refused) {
		c.t.Fatal(err)
	}
	return string(refused)
}

// refusal is an error that the service answered with.
type refusal string

func (r refusal) Error() string { return string(r) }

// try is post for a service that may be gone.
func (c client) try(path string, r, out any) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	answer, err := http.Post(c.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var failed struct{ Error string }
		return errors.Join(json.NewDecoder(answer.Body).Decode(&failed), refusal(failed.Error))
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

func (c client) begin(classes ...int) (id int) {
	c.t.Helper()
	var begun struct{ ID int }
	if message := c.post("/tasks", request{Classes: classes}, &begun); message != "" {
		c.t.Fatal(message)
	}
	return begun.ID
}

// learn pushes n samples, in turn of each class, in requests of at most 16.
func (c client) learn(task, n int, classes ...int) {
	for from := 0; from < n; from += 16 {
		r, taken := request{Task: task}, struct{ Taken int }{}
		for i := from; i < min(n, from+16); i++ {
			class := classes[i%len(classes)]
			r.X, r.Classes = append(r.X, sample(class, i)), append(r.Classes, class)
		}
		if message := c.post("/learn", r, &taken); message != "" || taken.Taken != len(r.X) {
			c.t.Errorf("%d of %d samples were taken; %s", taken.Taken, len(r.X), message)
			return
		}
	}
}

// tasks returns the tasks that the service names.
func (c client) tasks() []described {
	c.t.Helper()
	all, err := c.list()
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

func (c client) list() (all []described, err error) {
	r, err := http.Get(c.url + "/tasks")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	err = json.NewDecoder(r.Body).Decode(&all)
	return all, err
}

// predict returns the predictions of one sample of each class.
func (c client) predict(classes ...int) (out []pcl.Prediction) {
	c.t.Helper()
	var r request
	for _, class := range classes {
		r.X = append(r.X, sample(class, 1000))
	}
	if message := c.post("/predict", r, &out); message != "" {
		c.t.Fatal(message)
	}
	return out
}

// knows waits until samples of the classes are predicted correctly.
func (c client) knows(classes ...int) {
	c.t.Helper()
	var got []int
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		got = nil
		for _, p := range c.predict(classes...) {
			got = append(got, p.Class)
		}
		if slices.Equal(got, classes) {
			return
		}
	}
	c.t.Fatalf("classes %v are predicted as %v", classes, got)
}

// latencies returns the median and the 99th percentile of the time that a prediction takes.
func (c client) latencies(n int) (p50, p99 time.Duration) {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		c.predict(i % 2)
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[n/2], took[n*99/100]
}

// opened returns a service of eight inputs and four outputs.
func opened(t testing.TB, file string) *Service {
	t.Helper()
	return openedWith(t, file, "emgd", scenario.ClassIncremental, []int{128, 64}, 4)
}

// openedWith serves a learner with another rule, increment or network.
func openedWith(t testing.TB, file, name string, increment scenario.Increment, hidden []int, outputs int) *Service {
	t.Helper()
	return openedAs(t, Options{File: file}, name, increment, hidden, outputs, 20)
}

// openedAs serves it with other options, and another memory.
func openedAs(t testing.TB, o Options, name string, increment scenario.Increment, hidden []int, outputs, budget int) *Service {
	t.Helper()
	device := must.Get(backend.Open(context.Background(), backend.Options{Name: backend.Go}))(t)
	rule := must.Get(method.New(name, nil))(t)
	net := must.Get(model.NewMLP(8, hidden, outputs))(t)
	learner, err := pcl.New(t.Context(), pcl.Options{
		Backend: device, Model: net, Method: rule, Increment: increment, Batch: 32,
		Optimizer: optim.Adam{LR: 0.003}, Memory: memory.Config{Policy: memory.PerClass, Budget: budget},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { learner.Close(); device.Close() })
	s := must.Get(New(learner, o))(t)
	return s
}

// start runs a service within the test. stop ends it as SIGTERM does.
func start(t testing.TB, file string) (c client, stop func()) {
	t.Helper()
	return serving(t, opened(t, file))
}

// serving runs a service that was opened.
func serving(t testing.TB, service *Service) (c client, stop func()) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx, listener) }()
	return client{t, "http://" + listener.Addr().String()}, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestService: two tasks are learnt from samples that several clients push at the same time, predictions are made
// meanwhile, and after a restart everything goes on.
func TestService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	c, stop := start(t, file)
	var begun struct{ ID int }
	if message := c.post("/tasks", request{Classes: []int{0, 1}, Names: []string{"left", "right"}}, &begun); message != "" {
		t.Fatal(message)
	}
	first, second := begun.ID, c.begin(2, 3)
	var producers sync.WaitGroup
	for class := range 4 {
		task := []int{first, first, second, second}[class]
		producers.Go(func() { c.learn(task, 600, class) })
	}
	busy50, busy99 := c.latencies(100)
	producers.Wait()
	c.knows(0, 1, 2, 3)
	idle50, idle99 := c.latencies(100)
	t.Logf("a prediction over HTTP takes %v (median), %v (99th percentile) beside training, %v and %v idle", busy50, busy99, idle50, idle99)
	for what, message := range map[string]string{
		"a task of no classes":      c.post("/tasks", request{}, nil),
		"a name for two classes":    c.post("/tasks", request{Classes: []int{1, 2}, Names: []string{"one"}}, nil),
		"a task with a class twice": c.post("/tasks", request{Classes: []int{1, 1}}, nil),
		"a fifth class":             c.post("/tasks", request{Classes: []int{9}}, nil),
		"no such task":              c.post("/learn", request{Task: 7, X: [][]float32{sample(0, 0)}, Classes: []int{0}}, nil),
		"a class of another task":   c.post("/learn", request{Task: first, X: [][]float32{sample(2, 0)}, Classes: []int{2}}, nil),
		"half a sample to learn":    c.post("/learn", request{Task: first, X: [][]float32{sample(0, 0)[:4]}, Classes: []int{0}}, nil),
		"half a sample to predict":  c.post("/predict", request{X: [][]float32{sample(0, 0)[:4]}}, nil),
		"samples of other sizes":    c.post("/predict", request{X: [][]float32{sample(0, 0)[:7], append(sample(0, 0), 1)}}, nil),
		"the end of no task":        c.post("/end", request{Task: 7}, nil),
	} {
		if message == "" {
			t.Errorf("%s: no error", what)
		}
	}
	if message := c.post("/end", request{Task: first}, nil); message != "" {
		t.Error(message)
	}
	c.latencies(10)
	if all := c.tasks(); len(all) != 2 || all[0].ID != first || !slices.Equal(all[1].Classes, []int{2, 3}) || all[1].Ended {
		t.Errorf("the tasks are %+v", all)
	}
	before := c.predict(0, 1, 2, 3)
	stop()
	c, stop = start(t, file)
	defer stop()
	if all := c.tasks(); !slices.Equal(all[0].Names, []string{"left", "right"}) || before[0].Name != "left" || before[2].Name != "" {
		t.Errorf("the names are %+v, class 0 is called %q, class 2 %q", all, before[0].Name, before[2].Name)
	}
	for i, p := range c.predict(0, 1, 2, 3) {
		if p.Class != before[i].Class || !slices.Equal(p.Classes, before[i].Classes) {
			t.Errorf("after the restart class %d is predicted as %+v, before as %+v", i, p, before[i])
		}
	}
	c.learn(second, 100, 2, 3)
	c.knows(0, 1, 2, 3)
}
