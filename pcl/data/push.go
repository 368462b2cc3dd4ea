package data

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/jsonbits"
)

// ErrEnded is what [PushStream.Push] returns after [PushStream.End].
var ErrEnded = errors.New("data: the stream was ended")

// PushStream is a stream whose samples are pushed into it, by any number of goroutines. It holds up
// to a fixed number of samples; when it is full, those who push wait until a learner has taken
// some. A learner trains on each sample exactly once. The stream is ready when a whole batch waits,
// or a tenth of a second after the first sample of less; see [PushStream.AtLeast].
type PushStream struct {
	inputs   int
	capacity int // which only samples of a checkpoint exceed
	classes  map[int]bool

	mu       sync.Mutex
	x        []float32   // the samples that wait, the oldest first
	class    []int       // their classes
	reserved int         // for how many more room is kept
	least    int         // how many have to wait before the stream is ready; 0 stands for a batch, or less after patience
	batch    int         // how many samples the learner takes at once; 0 until it has asked
	late     bool        // whether samples have waited for longer than patience since the last batch
	timer    *time.Timer // sets late; nil if nothing waits
	saved    int         // how many samples waited when State was called last
	ended    bool
	room     chan struct{} // closed when samples have been taken; nil as long as nobody waits for that
	wake     *func()       // of the learner that listens
}

// patience is how long samples wait for the rest of their batch.
const patience = time.Second / 10

// maxWaiting is how many values a stream can hold: 8 GiB.
const maxWaiting = 1 << 31

// NewPushStream returns an empty stream for samples of that many values, each of one of the given
// classes. It holds at most capacity samples that wait to be trained on.
func NewPushStream(inputs, capacity int, classes []int) (*PushStream, error) {
	if inputs < 1 || capacity < 1 || len(classes) == 0 || capacity > maxWaiting/inputs {
		return nil, fmt.Errorf("data: a pushed stream for %d samples of %d values and %d classes; want at least one of "+
			"each, and at most %d values", capacity, inputs, len(classes), maxWaiting)
	}
	p := &PushStream{inputs: inputs, capacity: capacity, classes: map[int]bool{}}
	for _, c := range classes {
		p.classes[c] = true
	}
	return p, nil
}

// AtLeast lets the stream be ready when n samples wait, or when it was ended, however long that
// takes: with 1, steps are made at once from what there is. AtLeast returns the stream.
func (p *PushStream) AtLeast(n int) *PushStream {
	if n < 1 || n > p.capacity {
		panic(fmt.Sprintf("data: AtLeast(%d) of a stream that holds %d samples; want 1 to as many", n, p.capacity))
	}
	p.mu.Lock()
	p.least = n
	p.notify() // as many may wait already
	return p
}

// Push adds samples, of which x has the values one after another, and class the classes. If there
// is no room it waits, until ctx is cancelled. It returns how many samples were taken, which the
// stream then owns: all of them, or fewer together with an error. Samples that cannot be used are
// an error before any is taken. The values are copied.
func (p *PushStream) Push(ctx context.Context, x []float32, class ...int) (taken int, err error) {
	if err := p.Check(x, class...); err != nil {
		return 0, err
	}
	for taken < len(class) {
		n, err := p.Reserve(ctx, len(class)-taken)
		if err == nil {
			err = p.Fill(n, x[taken*p.inputs:(taken+n)*p.inputs], class[taken:taken+n]...)
		}
		if err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w, %d of %d samples were taken", err, taken, len(class))
			}
			return taken, err
		}
		taken += n
	}
	return taken, nil
}

// Check returns an error that names the first sample that the stream does not take, or nil.
func (p *PushStream) Check(x []float32, class ...int) error {
	if len(class) == 0 || len(x) != len(class)*p.inputs {
		return fmt.Errorf("data: pushed %d values and %d classes; want %d values for each class, and at least one", len(x),
			len(class), p.inputs)
	}
	for i, c := range class {
		if !p.classes[c] {
			return fmt.Errorf("data: pushed sample %d of class %d, which is not among the stream's %d classes", i, c,
				len(p.classes))
		}
		if !fp.Finite(x[i*p.inputs : (i+1)*p.inputs]) {
			return fmt.Errorf("data: pushed sample %d of class %d has a value that is not finite", i, c)
		}
	}
	return nil
}

// Reserve is the first half of [PushStream.Push], for a caller that first writes the samples down:
// it keeps room for as many of n samples as it can, which [PushStream.Fill] uses or gives back. If
// there is none, Reserve waits until ctx is cancelled.
func (p *PushStream) Reserve(ctx context.Context, n int) (got int, err error) {
	for {
		p.mu.Lock()
		if p.ended {
			p.mu.Unlock()
			return 0, ErrEnded
		}
		if got = min(n, p.capacity-len(p.class)-p.reserved); got > 0 || n == 0 {
			p.reserved += got
			p.mu.Unlock()
			return got, nil
		}
		if p.room == nil {
			p.room = make(chan struct{})
		}
		room := p.room
		p.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return 0, fmt.Errorf("data: the stream is full: %w", ctx.Err())
		}
	}
}

// Fill adds samples that [PushStream.Check] has found good, and gives back room that was reserved.
// It does not wait: samples for which no room was reserved are added, too. The values are copied.
func (p *PushStream) Fill(reserved int, x []float32, class ...int) error {
	p.mu.Lock()
	if p.reserved -= reserved; len(class) < reserved || p.ended {
		p.announceRoom()
	}
	if p.ended {
		p.mu.Unlock()
		return ErrEnded
	}
	p.x, p.class = append(p.x, x...), append(p.class, class...)
	p.notify()
	return nil
}

// ready says whether there is something to deliver. If the samples that wait are too few, it starts
// the timer.
func (p *PushStream) ready() bool {
	least := p.least
	if least == 0 {
		least = min(p.batch, p.capacity)
	}
	n := len(p.class)
	if n == 0 || p.ended || n >= least || p.late && p.least == 0 {
		return n > 0 || p.ended
	}
	if p.least == 0 && p.timer == nil {
		p.timer = time.AfterFunc(patience, func() {
			p.mu.Lock()
			p.late = len(p.class) > 0
			p.notify()
		})
	}
	return false
}

// notify wakes the learner if there is something to deliver. It unlocks the stream.
func (p *PushStream) notify() {
	wake := p.wake
	if !p.ready() {
		wake = nil
	}
	p.mu.Unlock()
	if wake != nil {
		(*wake)()
	}
}

// End ends the stream: it takes no more samples, and the task ends when the waiting ones have been
// trained on. A call that waits for room gets [ErrEnded].
func (p *PushStream) End() {
	p.mu.Lock()
	p.ended = true
	p.announceRoom()
	p.notify()
}

// announceRoom wakes the calls that wait for room.
func (p *PushStream) announceRoom() {
	if p.room != nil {
		close(p.room)
		p.room = nil
	}
}

// Len returns how many samples wait to be trained on. Samples that a learner has fetched are not
// counted.
func (p *PushStream) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.class)
}

// Notify is for the learner; see [Notifier].
func (p *PushStream) Notify(wake func()) (stop func()) {
	own := &wake
	p.mu.Lock()
	p.wake = own
	p.notify()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.wake == own { // and not that of a learner that goes on with the stream
			p.wake = nil
		}
	}
}

// Next delivers the samples that wait, up to a whole batch. It never waits.
func (p *PushStream) Next(b *Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(b.X) != len(b.Class)*p.inputs:
		return fmt.Errorf("data: the stream has samples of %d values, and the learner takes %d: the model's inputs, and "+
			"behind them the target values that its options ask for", p.inputs, len(b.X)/len(b.Class))
	case len(p.class) == 0 && p.ended:
		return io.EOF
	}
	if p.batch = len(b.Class); !p.ready() {
		return ErrNotReady
	}
	if p.late = false; p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	b.N = copy(b.Class, p.class)
	copy(b.X, p.x[:b.N*p.inputs])
	p.x, p.class = p.x[b.N*p.inputs:], p.class[b.N:]
	p.announceRoom()
	if len(p.class) == 0 && p.ended {
		return io.EOF
	}
	p.ready() // what is left waits from now on
	return nil
}

// pushState is what waits in a stream.
type pushState struct {
	Class []int                    `json:"class"`
	X     jsonbits.Vector[float32] `json:"x"`
	Ended bool                     `json:"ended,omitempty"`
}

// State returns the samples that wait, so that a checkpoint of the learner has them.
func (p *PushStream) State() (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved = len(p.class)
	return json.Marshal(pushState{Class: append([]int{}, p.class...), X: p.x, Ended: p.ended})
}

// Saved returns how many samples waited when State or SetState was called last.
func (p *PushStream) Saved() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.saved
}

// SetState puts the samples that a checkpoint has in front of those that wait, also where these are
// more than the stream otherwise holds.
func (p *PushStream) SetState(data json.RawMessage) error {
	var s pushState
	err := json.Unmarshal(data, &s)
	if err == nil && len(s.Class)+len(s.X) > 0 {
		err = p.Check(s.X, s.Class...)
	}
	if err != nil {
		return fmt.Errorf("data: state of a pushed stream: %w", err)
	}
	p.mu.Lock()
	p.x, p.class = append(s.X, p.x...), append(s.Class, p.class...)
	p.ended, p.saved = p.ended || s.Ended, len(s.Class)
	p.notify()
	return nil
}
