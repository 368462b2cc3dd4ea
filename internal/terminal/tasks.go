package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// Tasks shows how far things have come that happen side by side. Its methods, and those of its
// tasks, may be called at any time.
type Tasks struct {
	mu    sync.Mutex
	line  *Line
	tasks []*Task
	begin time.Time
	stop  chan struct{}
}

// NewTasks returns tasks that are shown on w. If w is nil, nothing is shown.
func NewTasks(w io.Writer) *Tasks {
	t := &Tasks{line: NewLine(w), begin: time.Now(), stop: make(chan struct{})}
	if !t.line.live {
		t.line.every *= 2
	}
	go func() {
		for tick := time.NewTicker(time.Second); ; { // so that the time is shown where nothing else is told
			select {
			case <-tick.C:
				t.change(func() {})
			case <-t.stop:
				tick.Stop()
				return
			}
		}
	}()
	return t
}

// change changes tasks and shows all.
func (t *Tasks) change(how func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	how()
	var parts []string
	for _, k := range t.tasks {
		if k.text != "" {
			parts = append(parts, k.name+": "+k.text)
		}
	}
	if len(parts) > 0 {
		t.line.Show("%s | %s", Duration(time.Since(t.begin)), strings.Join(parts, " | "))
	}
}

// Note writes a line that stays.
func (t *Tasks) Note(format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.line.w != nil {
		t.line.Close()
		fmt.Fprintf(t.line.w, format+"\n", values...)
	}
}

// Close ends the display. Its error is always nil.
func (t *Tasks) Close() error {
	close(t.stop)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tasks = nil
	return t.line.Close()
}

// Task is one of them.
type Task struct {
	all        *Tasks
	name, text string
	step       string
	begin      time.Time // of the step
	before     int       // what was done of it by then
}

// New returns a task, which is shown while it has a text.
func (t *Tasks) New(name string) *Task {
	k := &Task{all: t, name: name}
	t.change(func() { t.tasks = append(t.tasks, k) })
	return k
}

// Write sets the task's text to the last line of p, so that what is told elsewhere is shown here.
func (k *Task) Write(p []byte) (int, error) {
	lines := strings.Split(strings.TrimSpace(string(p)), "\n")
	k.all.change(func() { k.text = printable.Line(lines[len(lines)-1]) })
	return len(p), nil
}

// Count tells how much of a step is done. A total of 0 stands for an unknown one, and an empty step
// for none: then the task isn't shown.
func (k *Task) Count(step string, done, total int) {
	k.all.change(func() {
		if step != k.step {
			k.step, k.begin, k.before = step, time.Now(), done
		}
		k.text = printable.Line(step)
		if total > 0 {
			k.text += fmt.Sprintf(", %d of %d%s", done, total,
				Left(time.Since(k.begin), float64(done-k.before), float64(total-done)))
		}
	})
}

// Left is about how long the rest of something takes, if that much of it took so long. It is empty
// as long as that is no more than a guess.
func Left(took time.Duration, done, rest float64) string {
	if done <= 0 || rest <= 0 || took < 3*time.Second || done < rest/50 {
		return ""
	}
	return ", about " + Duration(time.Duration(float64(took)*rest/done)) + " left"
}

// Duration is a time in minutes and seconds.
func Duration(d time.Duration) string {
	s := int(math.Round(d.Seconds()))
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
