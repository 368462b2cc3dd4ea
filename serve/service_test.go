package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
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

// client sends requests to a service.
type client struct {
	t   testing.TB
	url string
}

// try posts a request to a service that may be gone, and decodes the answer into out. Its error may
// be the service's.
func (c client) try(path string, r, out any) error {
	body := must.Get(json.Marshal(r))(c.t)
	answer, err := http.Post(c.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var failed struct{ Error string }
		return errors.Join(json.NewDecoder(answer.Body).Decode(&failed), errors.New(failed.Error))
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// ask is try for a service that answers.
func ask[T any](c client, path string, r any) (out T) {
	c.t.Helper()
	must.Do(c.t, c.try(path, r, &out))
	return out
}

func (c client) begin(classes ...int) int {
	c.t.Helper()
	return ask[struct{ ID int }](c, "/tasks", request{Classes: classes}).ID
}

// learn pushes n samples, in turn of each class, in requests of at most 16.
func (c client) learn(task, n int, classes ...int) {
	for from := 0; from < n; from += 16 {
		r := request{Task: task}
		for i := from; i < min(n, from+16); i++ {
			class := classes[i%len(classes)]
			r.X, r.Classes = append(r.X, sample(class, i)), append(r.Classes, class)
		}
		if taken := ask[struct{ Taken int }](c, "/learn", r).Taken; taken != len(r.X) {
			c.t.Errorf("%d of %d samples were taken", taken, len(r.X))
		}
	}
}

// tasks returns the tasks that the service names.
func (c client) tasks() []described {
	c.t.Helper()
	return must.Get(c.list())(c.t)
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
func (c client) predict(classes ...int) []pcl.Prediction {
	c.t.Helper()
	var r request
	for _, class := range classes {
		r.X = append(r.X, sample(class, 1000))
	}
	return ask[[]pcl.Prediction](c, "/predict", r)
}

// knows waits until samples of the classes are predicted correctly.
func (c client) knows(classes ...int) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("the classes %v are not predicted", classes), func() bool {
		return slices.EqualFunc(c.predict(classes...), classes, func(p pcl.Prediction, class int) bool {
			return p.Class == class
		})
	})
}

// eventually waits for what a service does in its own time.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal(what)
		}
	}
}

// opened returns a service of eight inputs and four outputs.
func opened(t testing.TB, file string) *Service {
	t.Helper()
	return openedAs(t, Options{File: file}, func(*pcl.Options) {})
}

// openedAs serves another learner.
func openedAs(t testing.TB, o Options, change func(*pcl.Options)) *Service {
	t.Helper()
	device := must.Get(backend.Open(context.Background(), backend.Options{Name: backend.Go}))(t)
	options := pcl.Options{
		Backend: device, Model: mlp(t, 4, 128, 64), Increment: "class", Batch: 32,
		Optimizer: optim.Adam{LR: 0.003}, Memory: memory.Config{Policy: "per_class", Budget: 20},
	}
	change(&options)
	learner := must.Get(pcl.New(t.Context(), options))(t)
	t.Cleanup(func() { learner.Close(); device.Close() })
	return must.Get(New(learner, o))(t)
}

// mlp is a network of eight inputs.
func mlp(t testing.TB, outputs int, hidden ...int) model.Model {
	return must.Get(model.NewMLP(8, hidden, outputs))(t)
}

// serving runs a service within the test. stop ends it as SIGTERM does.
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

// TestService: two tasks are learnt from samples that several clients push at the same time,
// predictions are made meanwhile, and after a restart everything goes on.
func TestService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	c, stop := serving(t, opened(t, file))
	first := ask[struct{ ID int }](c, "/tasks", request{Classes: []int{0, 1}, Names: []string{"left", "right"}}).ID
	second := c.begin(2, 3)
	var producers sync.WaitGroup
	for class := range 4 {
		task := []int{first, first, second, second}[class]
		producers.Go(func() { c.learn(task, 600, class) })
	}
	c.predict(0, 1)
	producers.Wait()
	c.knows(0, 1, 2, 3)
	ask[struct{}](c, "/end", request{Task: first})
	eventually(t, "the task does not end", func() bool { return c.tasks()[0].Ended })
	if all := c.tasks(); len(all) != 2 || all[0].ID != first || !slices.Equal(all[1].Classes, []int{2, 3}) ||
		all[1].Ended {
		t.Errorf("the tasks are %+v", all)
	}
	before := c.predict(0, 1, 2, 3)
	stop()
	c, stop = serving(t, opened(t, file))
	defer stop()
	if all := c.tasks(); !slices.Equal(all[0].Names, []string{"left", "right"}) || before[0].Name != "left" ||
		before[2].Name != "" {
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

// TestGuide: the requests that the guide shows are answered.
func TestGuide(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/service.md"))(t)
	c, stop := serving(t, opened(t, filepath.Join(t.TempDir(), "my.pcl")))
	defer stop()
	shown := regexp.MustCompile(`curl localhost:8080(/\w+) +-d '(.+?)'`).FindAllSubmatch(text, -1)
	if len(shown) < 4 {
		t.Fatalf("the guide shows %d requests", len(shown))
	}
	for _, s := range shown {
		t.Logf("%s: %s", s[0], ask[json.RawMessage](c, string(s[1]), json.RawMessage(s[2])))
	}
}
