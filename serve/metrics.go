package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/parallelcl/parallelcl/pcl"
)

// metrics are what GET /metrics tells Prometheus.
type metrics struct {
	registry *prometheus.Registry
	seconds  *prometheus.HistogramVec
	taken    prometheus.Counter
	refused  prometheus.Counter
	saves    *prometheus.CounterVec
	savedAt  prometheus.Gauge
}

func newMetrics(s *Service) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parallelcl_request_seconds", Help: "Time from a request's header to the end of its answer.",
			Buckets: []float64{.001, .002, .003, .005, .008, .012, .02, .05, .1, .25, 1, 5, 60},
		}, []string{"path", "code"}),
		taken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parallelcl_samples_taken_total", Help: "Samples that were taken to be learnt from.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parallelcl_samples_refused_total", Help: "Samples that could be read, and were not taken.",
		}),
		saves: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parallelcl_saves_total", Help: "Saves of the learner, by their outcome.",
		}, []string{"outcome"}),
		savedAt: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "parallelcl_saved_timestamp_seconds", Help: "When the learner was saved last; 0 if it was not yet.",
		}),
	}
	m.saves.WithLabelValues("done")
	m.saves.WithLabelValues("failed")
	m.registry.MustRegister(m.seconds, m.taken, m.refused, m.saves, m.savedAt, state{s})
	return m
}

// noteSave counts a save that has ended.
func (m *metrics) noteSave(err error) {
	if err != nil {
		m.saves.WithLabelValues("failed").Inc()
		return
	}
	m.saves.WithLabelValues("done").Inc()
	m.savedAt.SetToCurrentTime()
}

// noteSamples counts the samples of a request, of which some were taken.
func (m *metrics) noteSamples(taken, all int) {
	m.taken.Add(float64(taken))
	m.refused.Add(float64(all - taken))
}

// timed notes how long requests take, by their pattern: paths of strangers' choice would be without
// number.
func (m *metrics) timed(path string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		began, seen := time.Now(), &statusSeen{ResponseWriter: w, code: http.StatusOK}
		defer func() { m.seconds.WithLabelValues(path, strconv.Itoa(seen.code)).Observe(time.Since(began).Seconds()) }()
		h(seen, q)
	}
}

// statusSeen remembers the status code of an answer.
type statusSeen struct {
	http.ResponseWriter
	code int
}

func (w *statusSeen) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets [http.ResponseController] set deadlines.
func (w *statusSeen) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// state collects the state of the learner. Of a task that has ended there is only the accuracy, if
// the program gave it test samples: clients cannot make more than Options.MaxTasks of each kind.
type state struct{ *Service }

var (
	stepsMade   = newDesc("parallelcl_steps_total", "Steps of training.")
	tasksNow    = newDesc("parallelcl_tasks", "Tasks that are kept, by what they do.", "state")
	taskLoss    = newDesc("parallelcl_task_loss", "Loss of a task's last batch.", "task")
	taskRight   = newDesc("parallelcl_task_accuracy", "Accuracy on held-out samples, of tasks that have some.", "task")
	taskTaken   = newDesc("parallelcl_task_samples_total", "Samples of a task that training has taken.", "task")
	taskWaiting = newDesc("parallelcl_task_waiting", "Samples of a task that wait to be trained on.", "task")
	taskKept    = newDesc("parallelcl_task_memory_samples", "Samples of a task in the rehearsal memory.", "task")
	taskSkipped = newDesc("parallelcl_task_skipped_total", "What of a task could not be trained on.", "task", "what")
	readyNow    = newDesc("parallelcl_ready", "1 for each part of the service that is ready.", "part")
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func (state) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		stepsMade, tasksNow, taskLoss, taskRight, taskTaken, taskWaiting, taskKept, taskSkipped, readyNow,
	} {
		to <- d
	}
}

func (s state) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	for _, part := range []struct {
		name  string
		ready bool
	}{{"predictions", s.answers.newest.Load() != nil}, {"training", s.has()}, {"journal", s.has() && s.isWhole()}} {
		v := 0.
		if part.ready {
			v = 1
		}
		gauge(readyNow, v, part.name)
	}
	if !s.has() {
		return
	}
	counter(stepsMade, float64(s.learner.Steps()))
	count := map[string]int{"running": 0, "paused": 0, "ended": 0}
	for _, t := range s.learner.Tasks() {
		count[doing(t)]++
		id := strconv.Itoa(t.ID)
		seen := s.watch.of(t.ID)
		if seen.scored {
			gauge(taskRight, seen.accuracy, id)
		}
		if t.Ended {
			continue
		}
		counter(taskTaken, float64(t.Samples), id)
		gauge(taskWaiting, float64(t.Waiting), id)
		gauge(taskKept, float64(seen.kept), id)
		counter(taskSkipped, float64(s.skipped.of(t.ID)), id, "batches")
		counter(taskSkipped, float64(s.spoilt.of(t.ID)), id, "samples")
		if n := len(seen.losses); n > 0 {
			gauge(taskLoss, seen.losses[n-1], id)
		}
	}
	for does, n := range count {
		gauge(tasksNow, float64(n), does)
	}
}

// doing says in a word what a task does.
func doing(t pcl.TaskInfo) string {
	switch {
	case t.Ended:
		return "ended"
	case t.Paused:
		return "paused"
	}
	return "running"
}
