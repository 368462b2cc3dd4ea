package serve

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is an answer in HTML.
type page []byte

// shown is what the page says.
type shown struct {
	Ready, Missing  string
	Steps           int
	Saved           string
	Memory          int
	Running, Others []shownTask
	More            int // tasks that are not shown
}

// shownTask is a line of the page's table.
type shownTask struct {
	ID                 int
	Name, Does         string
	Taken, Waiting     int
	Kept               int
	Loss, Accuracy     string
	Curve              string // points of a polyline in a box of 120 × 28
	CurveFrom, CurveTo string
}

// mostShown is how many tasks that do not run the page shows, the newest.
const mostShown = 50

// home answers GET / with a page about the service, for people.
func (s *Service) home(context.Context) (any, error) {
	r := s.readiness()
	v := shown{Ready: "starting", Missing: strings.Join(r.Missing, ", ")}
	switch {
	case s.ending.Err() != nil:
		v.Ready = "ending"
	case r.Ready:
		v.Ready = "answering"
	}
	if s.has() {
		v.Steps, v.Saved = s.learner.Steps(), s.watch.savedAgo()
		tasks := s.learner.Tasks()
		slices.Reverse(tasks)
		for _, t := range tasks {
			seen := s.watch.of(t.ID)
			v.Memory += seen.kept
			switch {
			case !t.Ended:
				v.Running = append(v.Running, show(t, seen))
			case len(v.Others) < mostShown:
				v.Others = append(v.Others, show(t, seen))
			default:
				v.More++
			}
		}
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, v)
	return page(out.Bytes()), ours(err)
}

// show returns the line of a task.
func show(t pcl.TaskInfo, seen seen) shownTask {
	line := shownTask{
		ID: t.ID, Name: t.Name, Does: doing(t), Taken: t.Samples, Waiting: t.Waiting, Kept: seen.kept,
		Loss: "–", Accuracy: "–", Curve: polyline(seen.losses),
	}
	if n := len(seen.losses); n > 0 {
		line.Loss = fmt.Sprintf("%.3g", seen.losses[n-1])
		line.CurveFrom, line.CurveTo = fmt.Sprintf("%.3g", seen.losses[0]), line.Loss
	}
	if seen.scored {
		line.Accuracy = fmt.Sprintf("%.1f %%", 100*seen.accuracy)
	}
	return line
}

// polyline returns the points of a curve in a box of 120 × 28, from its least to its largest value.
func polyline(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	lo, hi := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for i, v := range values {
		y := 14.
		if hi > lo {
			y = 26 - 24*(v-lo)/(hi-lo)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", 2+116*float64(i)/float64(len(values)-1), y)
	}
	return strings.TrimSpace(b.String())
}

// savedAgo says when the learner was saved last.
func (w *watch) savedAgo() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.savedAt.IsZero() {
		return "not since the start"
	}
	return time.Since(w.savedAt).Round(time.Second).String() + " ago"
}
