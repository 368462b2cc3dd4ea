package nb

import (
	"fmt"
	"html"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/parallelcl/parallelcl/viz"
)

// How often a running display changes.
const (
	barEvery  = 100 * time.Millisecond
	liveEvery = 250 * time.Millisecond
	restAfter = time.Second // so long after its last change a display is at rest
)

// Bar is a live progress bar with the rate and the remaining time:
//
//	bar := nb.Progress("training")
//	defer bar.Close()
//	schedule.Progress = func(_ int, p experiment.Progress) { bar.Set(p.Step, p.Steps, fmt.Sprintf("loss %.3f", p.Loss)) }
//
// Its methods may be called concurrently.
type Bar struct {
	mu          sync.Mutex
	id, title   string
	begin       time.Time // of all, including the work before the first step
	first       time.Time // when the first call of Set came,
	before      int       // and the steps that were done then
	shown       time.Time
	done, total int
	note        string
	closed      bool
}

// Progress shows an empty bar, for the time before the first step.
func Progress(title string) *Bar {
	b := &Bar{id: gonbui.UniqueId(), title: title, begin: time.Now()}
	report(b.show(b.begin))
	return b
}

// Set shows that done of total steps have been made, with a note.
func (b *Bar) Set(done, total int, note string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.total == 0 {
		b.first, b.before = now, done
	}
	b.done, b.total, b.note = done, max(total, 1), note
	if now.Sub(b.shown) >= barEvery {
		b.show(now)
	}
}

// Close shows the final state of the bar, which remains visible.
func (b *Bar) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return report(b.show(time.Now()))
}

func (b *Bar) show(now time.Time) error {
	b.shown = now
	// none: busy; while the bar changes, a second line that comes and goes would move what stands
	// below
	value, wrap := "", "nowrap"
	if b.closed {
		value, wrap = ` value="1"`, "normal"
	}
	if b.total > 0 {
		value = fmt.Sprintf(` max="%d" value="%d"`, b.total, b.done)
	}
	plain := b.text(now)
	text := html.EscapeString(plain)
	return showHTML(fmt.Sprintf(`<div title="%s" style="overflow:hidden;text-overflow:ellipsis;white-space:%s">`+
		`<progress%s style="width:10em;vertical-align:middle"></progress> %s</div>`, text, wrap, value, text), plain, b.id)
}

// text is where the bar stands, in words. The note comes last: it is the longest, and cut off where
// there is no room.
func (b *Bar) text(now time.Time) string {
	took := ", took " + roundTime(now.Sub(b.begin))
	switch {
	case b.total == 0 && b.closed:
		return b.title + took
	case b.total == 0:
		return b.title
	}
	s, rate := fmt.Sprintf("%s: %d of %d", b.title, b.done, b.total), 0.0
	if since := now.Sub(b.first); since >= barEvery { // else all was read from files, or it has only begun
		rate = float64(b.done-b.before) / since.Seconds()
	}
	if rate > 0 {
		s += fmt.Sprintf(", %.3g/s", rate)
	}
	switch {
	case b.done >= b.total:
		s += took
	case rate > 0:
		s += ", ETA " + roundTime(time.Duration(float64(b.total-b.done)/rate*float64(time.Second)))
	}
	if b.note != "" {
		s += ", " + b.note
	}
	return s
}

func roundTime(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Live shows figures that change while a cell runs. They answer to the pointer when they have not
// changed for a second. Its methods may be called concurrently.
type Live struct {
	mu    sync.Mutex
	id    string
	shown time.Time
	last  []*viz.Figure
	rest  *time.Timer // shows the last figure when nothing has changed for a while
}

// NewLive returns live figures. Nothing is visible before the first [Live.Show].
func NewLive() *Live { return &Live{id: gonbui.UniqueId()} }

// Show replaces the previous figure. It takes the results of a function, including the error:
//
//	live.Show(viz.Accuracy(runs...))
//
// A new figure is shown at most four times a second; the last one is shown a second later, or by
// [Live.Close].
func (l *Live) Show(f *viz.Figure, err error) error {
	if err != nil {
		return report(err)
	}
	return l.put(f)
}

// put replaces the previous figures; several stand one below the other.
func (l *Live) put(figures ...*viz.Figure) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = figures
	if l.rest == nil {
		l.rest = time.AfterFunc(restAfter, func() { l.Close() })
	}
	l.rest.Reset(restAfter)
	if time.Since(l.shown) < liveEvery {
		return nil
	}
	return l.flush(true)
}

// Close shows the last figure, which remains visible.
func (l *Live) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rest != nil {
		l.rest.Stop()
	}
	return l.flush(false)
}

func (l *Live) flush(still bool) error {
	if len(l.last) == 0 {
		return nil
	}
	defer func() { l.shown = time.Now() }() // from the end: drawing must not take all the time
	return report(showFigures(l.id, 0, nil, still, l.last...))
}
