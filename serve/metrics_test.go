package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// brightest are so many images of the classes 0 and 1.
type brightest int

func (n brightest) Len() int { return int(n) }

func (n brightest) Sample(i int, x []float32) int {
	copy(x, sample(i%2, i))
	return i % 2
}

// scrape returns the values of GET /metrics, by name and labels; of a histogram, how many it has.
func scrape(t *testing.T, h http.Handler) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := must.Get(parser.TextToMetricFamilies(w.Body))(t)
	out := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			switch {
			case m.Counter != nil:
				out[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				out[key] = m.Gauge.GetValue()
			case m.Histogram != nil:
				out[key] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return out
}

// TestMetrics compares what Prometheus is told with what was sent to a service: also that a task
// which has ended costs nothing any more.
func TestMetrics(t *testing.T) {
	s := openedAs(t, Options{File: filepath.Join(t.TempDir(), "my.pcl")}, func(*pcl.Options) {})
	h := s.Handler()
	before := scrape(t, h)
	for key, want := range map[string]float64{
		"parallelcl_steps_total": 0, "parallelcl_tasks running": 0, "parallelcl_saves_total done": 0,
		"parallelcl_saved_timestamp_seconds": 0, "parallelcl_ready predictions": 1,
	} {
		if got, ok := before[key]; !ok || got != want {
			t.Errorf("at the start %s = %v (%t); want %v", key, got, ok, want)
		}
	}
	// The program has a task with test samples, whose stream ends.
	id := must.Get(s.learner.Attach(pcl.Task{
		Classes: []int{0, 1}, Stream: must.Get(data.NewStream(brightest(40), 1, 8, 1))(t), Test: brightest(10),
	}))(t)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client{t, server.URL}
	other := c.begin(2, 3)
	x := make([][]float32, 3)
	for i := range x {
		x[i] = sample(2+i%2, i)
	}
	ask[struct{ Taken int }](c, "/learn", request{Task: other, X: x, Classes: []int{2, 3, 2}})
	if err := c.try("/learn", request{Task: other, X: x, Classes: []int{2, 3, 9}}, new(any)); err == nil {
		t.Error("a class that the task does not have was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil) }()
	eventually(t, "the samples were not learnt", func() bool {
		now := scrape(t, h)
		_, scored := now["parallelcl_task_accuracy 1"] // after the step in which the task has ended
		return scored && now["parallelcl_task_samples_total 2"] == 3 && now["parallelcl_tasks ended"] == 1
	})
	now := scrape(t, h)
	for key, want := range map[string]float64{
		"parallelcl_samples_taken_total": 3, "parallelcl_samples_refused_total": 3, "parallelcl_tasks running": 1,
		"parallelcl_task_waiting 2": 0, "parallelcl_request_seconds 200 POST /learn": 1,
		"parallelcl_request_seconds 400 POST /learn": 1,
	} {
		if got, ok := now[key]; !ok || got != want {
			t.Errorf("%s = %v (%t); want %v", key, got, ok, want)
		}
	}
	if got, want := now["parallelcl_task_accuracy 1"], must.Get(s.learner.Evaluate(id))(t); got < .5 || got > 1 {
		t.Errorf("accuracy %v of the task that has ended, now %v", got, want)
	}
	for key := range now {
		if strings.HasPrefix(key, "parallelcl_task_") && strings.HasSuffix(key, " 1") && !strings.Contains(key, "accuracy") {
			t.Errorf("a task that has ended has %s", key)
		}
	}
	cancel()
	must.Do(t, <-ended)
	last := scrape(t, h)
	if got, want := last["parallelcl_steps_total"], float64(s.learner.Steps()); got != want || got == 0 {
		t.Errorf("%v steps, of %v", got, want)
	}
	if last["parallelcl_saves_total done"] != 1 || last["parallelcl_saved_timestamp_seconds"] == 0 {
		t.Errorf("after the end %v saves, the last at %v", last["parallelcl_saves_total done"],
			last["parallelcl_saved_timestamp_seconds"])
	}
}

// TestPaths: strangers who ask for other paths make no metrics.
func TestPaths(t *testing.T) {
	h := openedAs(t, Options{}, func(*pcl.Options) {}).Handler()
	for _, path := range []string{"/nothing", "/tasks/1", "/metrics/x"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	for key := range scrape(t, h) {
		if strings.HasPrefix(key, "parallelcl_request_seconds") {
			t.Errorf("%s", key)
		}
	}
}
