package pcl

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

var sequences = flag.Int("sequences", 200, "random sequences of calls in pure Go; a tenth as many on XLA")

// A random sequence of attach, step, evaluate, save, load, detach and close, over streams that
// misbehave in every way, is played on a learner and on a model of it: a list of what each stream
// delivered.

// The samples are points of four values, of which the first names the sample.
const (
	seqInputs, seqBatch, seqOutputs = 4, 4, 12
	seqNames                        = 1 << 16
)

// event is what one call of Next does.
type event int

const (
	delivers event = iota
	withOwnSlices
	repeats   // delivers samples that count as seen before
	withNaN   // delivers a sample that is not finite
	overflows // delivers one whose gradient may not be
	endsWith  // delivers together with io.EOF
	ends
	fails
	panics
	deliversNone
	deliversTooMany
	deliversForeign
	deliversShort
)

func (e event) accepted() bool { return e <= endsWith }

// scripted is a stream of given events. Its position can be saved; its failures are over once they
// happened.
type scripted struct {
	script  []event
	classes []int
	first   int // name of its first sample
	At      int
}

// next is the event of the next call.
func (s *scripted) next() event { return s.script[min(s.At, len(s.script)-1)] }

// samples are the names of what event at delivers.
func (s *scripted) samples(at int) (names []int) {
	for i := range 1 + (s.first+at)%seqBatch {
		names = append(names, s.first+at*seqBatch+i)
	}
	return names
}

func (s *scripted) class(name int) int { return s.classes[name%len(s.classes)] }

func (s *scripted) Next(b *data.Batch) error {
	at := s.At
	e := s.script[min(at, len(s.script)-1)]
	if e != ends {
		s.At++
	}
	switch e {
	case ends:
		return io.EOF
	case fails:
		return errors.New("no sample to be had")
	case panics:
		panic("no stream to be had")
	case deliversNone:
		return nil
	}
	if e == withOwnSlices {
		b.X, b.Class = make([]float32, seqInputs*(seqBatch+1)), make([]int, seqBatch+1)
	}
	for i, name := range s.samples(at) {
		x := b.X[i*seqInputs:]
		x[0], x[1], x[2], x[3] = float32(name)/seqNames, float32(s.class(name))/seqOutputs, 1, float32(i)/seqBatch
		b.Class[i] = s.class(name)
	}
	b.N, b.Repeat = len(s.samples(at)), e == repeats
	switch e {
	case withNaN:
		b.X[2] = float32(math.NaN())
	case overflows:
		b.X[2] = 3e38
	case endsWith:
		return io.EOF
	case deliversTooMany:
		b.N = seqBatch + 1
	case deliversForeign:
		b.Class[b.N-1] = 99
	case deliversShort:
		b.X = b.X[:seqInputs*b.N-1]
	}
	return nil
}

func (s *scripted) State() (json.RawMessage, error)  { return json.Marshal(s.At) }
func (s *scripted) SetState(m json.RawMessage) error { return json.Unmarshal(m, &s.At) }

// believed is what the model knows of a task.
type believed struct {
	stream  *scripted
	queue   []int // positions of batches that were accepted and not yet used, at most two
	over    bool  // the stream has returned io.EOF; batches may still be in the queue
	ended   bool  // the learner does not train on it any more
	dropped bool  // nothing of it may be in the memory
}

// world is the model of a learner.
type world struct {
	tasks   []believed
	steps   int
	trained map[int]int // how often each sample was trained on
}

func (w *world) clone() *world {
	out := *w
	out.tasks, out.trained = slices.Clone(w.tasks), maps.Clone(w.trained)
	for i := range out.tasks {
		out.tasks[i].queue = slices.Clone(out.tasks[i].queue)
	}
	return &out
}

func (w *world) running() (ids []int) {
	for i, t := range w.tasks {
		if !t.ended {
			ids = append(ids, i+1)
		}
	}
	return ids
}

// moody is a method that fails in some steps, before it has changed anything.
type moody struct {
	method.Method
	fails bool
}

var errMood = errors.New("not now")

func (m *moody) Unwrap() method.Method { return m.Method }

func (m *moody) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	if s.Rand.Uint64(); m.fails {
		return method.Outcome{}, errMood
	}
	return m.Method.Weights(s, w)
}

// player plays one sequence.
type player struct {
	t       *testing.T
	rng     *rand.Rand
	learner *Learner
	mood    *moody // the learner's method
	options Options
	world   *world
	saved   *world
	path    string
	names   int
	seen    []int // samples that the step being made trains on, by the learner
	log     []string
}

func (p *player) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s\nafter %v", fmt.Sprintf(format, args...), p.log)
}

func (p *player) start() {
	p.mood = &moody{Method: p.options.Method}
	p.options.Method = p.mood
	p.options.Trace = func(s *Trace) error {
		p.seen = nil
		for i, id := range s.IDs {
			if s.Rejected || id <= method.MemoryID {
				continue
			}
			for k := range s.N[i] {
				p.seen = append(p.seen, int(math.Round(float64(s.X[i][k*seqInputs])*seqNames)))
			}
		}
		return nil
	}
	l, err := New(context.Background(), p.options)
	if err != nil {
		p.fatalf("%v", err)
	}
	p.learner = l
}

// attach adds a task with a script of its own.
func (p *player) attach() {
	s := &scripted{first: p.names}
	for range 1 + p.rng.IntN(3) {
		if c := p.rng.IntN(6); !slices.Contains(s.classes, c) {
			s.classes = append(s.classes, c)
		}
	}
	for range 1 + p.rng.IntN(7) {
		e := delivers
		if p.rng.IntN(3) == 0 {
			e = event(p.rng.IntN(int(deliversShort) + 1))
		}
		s.script = append(s.script, e)
	}
	s.script = append(s.script, ends)
	p.names += seqBatch * (len(s.script) + 1)
	first := s.script[0]
	id, err := p.learner.Attach(Task{Classes: s.classes, Stream: s, Test: testing4{s.classes}})
	p.log = append(p.log, fmt.Sprintf("attach %v %v: %v", s.classes, s.script, err))
	if err != nil {
		if first.accepted() && !p.outputsSpent(s.classes) {
			p.fatalf("a good task was refused: %v", err)
		}
		return
	}
	if !first.accepted() || id != len(p.world.tasks)+1 {
		p.fatalf("attached as task %d", id)
	}
	p.world.tasks = append(p.world.tasks, believed{stream: s, queue: []int{0}, over: first == endsWith})
}

// outputsSpent says whether the classifier has no outputs left for these classes.
func (p *player) outputsSpent(classes []int) bool {
	return p.options.Increment == "task" && p.learner.tasks.registry.used+len(classes) > seqOutputs
}

// testing4 are four test samples.
type testing4 struct{ classes []int }

func (testing4) Len() int { return 4 }
func (s testing4) Sample(i int, x []float32) int {
	x[0], x[1] = 0.5, float32(i)/4
	return s.classes[i%len(s.classes)]
}

// ask says what the model expects of asking a task's stream at its position for a batch: it is
// accepted, there is none, or it fails.
func (b *believed) ask(at int) (accepted, failed bool) {
	if b.over {
		return false, false
	}
	switch e := b.stream.script[min(at, len(b.stream.script)-1)]; {
	case e.accepted():
		b.queue = append(b.queue, at)
		b.over = e == endsWith
		return true, false
	case e == ends:
		b.over = true
		return false, false
	}
	return false, true
}

// step makes a step of the learner and says what it must have done.
func (p *player) step() {
	before := p.state()
	positions := make([]int, len(p.world.tasks))
	for i, t := range p.world.tasks {
		positions[i] = t.stream.At
	}
	p.seen = nil
	p.mood.fails = p.rng.IntN(6) == 0
	r, err := p.learner.Step()
	p.log = append(p.log, fmt.Sprintf("step: %v", err))
	if len(p.world.running()) == 0 {
		if !errors.Is(err, ErrNoStream) {
			p.fatalf("a step without streams: %v", err)
		}
		return
	}
	if at := new(StreamError); errors.As(err, &at) {
		p.notMade(at.ID, positions, before)
		return
	} else if errors.Is(err, errMood) {
		if p.asked(positions); !p.state().equal(before) {
			p.fatalf("a step that failed has changed the learner")
		}
		return
	} else if err != nil {
		p.fatalf("%v", err)
	}
	p.made(r, positions)
}

// notMade checks that a step that failed for the stream of task id has changed nothing.
func (p *player) notMade(id int, positions []int, before state) {
	if !p.state().equal(before) {
		p.fatalf("a step that failed has changed the learner")
	}
	for _, other := range p.world.running() {
		t := &p.world.tasks[other-1]
		if moved := t.stream.At != positions[other-1]; len(t.queue) == 0 && !t.over && moved {
			if _, failed := t.ask(positions[other-1]); failed != (other == id) {
				p.fatalf("the error names task %d, but task %d failed", id, other)
			}
		} else if len(t.queue) == 0 && !t.over && other < id && t.stream.next() == ends {
			t.over = true // it was asked, and has ended
		}
	}
}

// asked brings the model up to date with what the learner read from the streams, in a step that got
// as far as training.
func (p *player) asked(positions []int) {
	for _, id := range p.world.running() {
		t, at := &p.world.tasks[id-1], positions[id-1]
		if len(t.queue) == 0 { // it owed a batch
			if accepted, failed := t.ask(at); failed {
				p.fatalf("a step was made though task %d had failed", id)
			} else if accepted {
				at++
			}
		}
		if len(t.queue) == 1 {
			t.ask(at) // a failure is told by the next step
		}
	}
}

// made brings the model up to date after a step, and compares the step's report with it.
func (p *player) made(r *StepReport, positions []int) {
	p.asked(positions)
	w := p.world
	var ids, ended, expected []int
	for _, id := range w.running() {
		t := &w.tasks[id-1]
		if len(t.queue) > 0 {
			event, names := t.stream.script[t.queue[0]], t.stream.samples(t.queue[0])
			if p.trains(event, id, r) {
				ids = append(ids, id)
				if p.leavesOut(event, names[0]) {
					if names = names[1:]; r.LeftOut[id] == 0 {
						p.fatalf("step %d counts no sample of task %d that was left out", r.Step, id)
					}
				}
				expected = append(expected, names...)
			} else if !slices.Contains(r.Skipped, id) && !r.Rejected && !p.idle() {
				p.fatalf("task %d was neither trained on nor skipped", id)
			}
			t.queue = t.queue[1:]
		}
		if len(t.queue) == 0 && t.over {
			t.ended = true
			ended = append(ended, id)
		}
	}
	w.steps++
	for _, name := range expected {
		w.trained[name]++
	}
	if idle := p.idle(); !idle && !slices.Equal(sortedInts(p.seen), sortedInts(expected)) {
		p.fatalf("step %d trained on %v, want %v", r.Step, p.seen, expected)
	} else if !idle && !slices.Equal(slices.DeleteFunc(slices.Clone(r.IDs), func(id int) bool {
		return id <= method.MemoryID
	}), ids) {
		p.fatalf("step %d has rows %v, want %v", r.Step, r.IDs, ids)
	}
	if !slices.Equal(r.Ended, ended) {
		p.fatalf("step %d ended %v, want %v", r.Step, r.Ended, ended)
	}
}

// trains says whether a step must have trained on a task's batch. Whether a gradient overflows is
// for the learner to say.
func (p *player) trains(e event, id int, r *StepReport) bool {
	switch {
	case r.Rejected:
		return false
	case e == withNaN, e == overflows && !p.idle():
		return slices.Contains(r.IDs, id)
	}
	return true
}

// leavesOut says whether the first sample of a batch was left out of the step, and the others
// trained on.
func (p *player) leavesOut(e event, first int) bool {
	return e == withNaN || e == overflows && !p.idle() && !slices.Contains(p.seen, first)
}

func (p *player) idle() bool {
	i := p.learner.method.Idler
	return i != nil && i.Idle()
}

func sortedInts(x []int) []int { return slices.Sorted(slices.Values(x)) }

// detach drops a running task.
func (p *player) detach() {
	ids := p.world.running()
	if len(ids) == 0 {
		return
	}
	id, keep := ids[p.rng.IntN(len(ids))], p.rng.IntN(2) == 0
	p.log = append(p.log, fmt.Sprintf("detach %d, %t", id, keep))
	if err := p.learner.Detach(id, keep); err != nil {
		p.fatalf("%v", err)
	}
	t := &p.world.tasks[id-1]
	t.ended, t.queue, t.dropped = true, nil, !keep
}

func (p *player) evaluate() {
	if n := len(p.world.tasks); n > 0 {
		id := 1 + p.rng.IntN(n)
		p.log = append(p.log, fmt.Sprintf("evaluate %d", id))
		if acc, err := p.learner.Evaluate(id); err != nil || acc < 0 || acc > 1 {
			p.fatalf("accuracy %g, %v", acc, err)
		}
	}
}

func (p *player) save() {
	p.log = append(p.log, "save")
	if err := p.learner.Save(p.path); err != nil {
		p.fatalf("%v", err)
	}
	p.saved = p.world.clone()
}

// load takes up what was saved, on this learner or on a new one.
func (p *player) load() {
	if p.saved == nil {
		return
	}
	p.log = append(p.log, "load")
	if p.rng.IntN(2) == 0 {
		p.learner.Close()
		p.options.Method = must.Get(method.New(method.Describe(p.options.Method).Name, nil))(p.t)
		p.start()
	}
	p.world = p.saved.clone()
	err := p.learner.Load(p.path, func(id int) (Task, error) {
		t := &p.world.tasks[id-1]
		fresh := *t.stream
		t.stream = &fresh
		return Task{Classes: fresh.classes, Stream: &fresh, Test: testing4{fresh.classes}}, nil
	})
	if err != nil {
		p.fatalf("%v", err)
	}
}

// state is what a step that was not made must leave as it was.
type state struct {
	theta, pixels []float32
	steps         int
	active        []int
}

func (s state) equal(o state) bool {
	return slices.Equal(s.theta, o.theta) && slices.Equal(s.pixels, o.pixels) && s.steps == o.steps &&
		slices.Equal(s.active, o.active)
}

func (p *player) state() state {
	theta, err := p.learner.Parameters()
	if err != nil {
		p.fatalf("%v", err)
	}
	return state{theta, pixels(p.learner), p.learner.Steps(), p.learner.Running()}
}

// check holds the learner against the model and against what must always be so.
func (p *player) check() {
	s, w, m := p.state(), p.world, p.learner.Memory()
	for _, x := range s.theta {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			p.fatalf("the parameters are not finite")
		}
	}
	if s.steps != w.steps {
		p.fatalf("%d steps, want %d", s.steps, w.steps)
	}
	active := w.running()
	if !slices.Equal(s.active, active) {
		p.fatalf("active: %v, want %v", s.active, active)
	}
	for name, n := range w.trained {
		if n != 1 {
			p.fatalf("sample %d was trained on %d times", name, n)
		}
	}
	classes, met := map[int]int{}, map[int]bool{}
	for i := range m.Len() {
		it := m.Item(i)
		name := int(math.Round(float64(it.Pixels[0]) * seqNames))
		t := w.tasks[it.Task-1]
		if met[name] || t.dropped && !p.keeps() || it.Class != t.stream.class(name) || (w.trained[name] != 1 && !p.idle()) {
			p.fatalf("sample %d of task %d is in the memory: twice, %t; dropped, %t; trained on %d times",
				name, it.Task, met[name], t.dropped, w.trained[name])
		}
		met[name] = true
		if t.stream.script[(name-t.stream.first)/seqBatch] == repeats && !p.keeps() {
			p.fatalf("sample %d, which counts as seen before, is in the memory", name)
		}
		classes[it.Class]++
		for _, x := range it.Pixels {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				p.fatalf("sample %d of the memory is not finite", name)
			}
		}
	}
	budget := p.options.Memory
	for class, n := range classes {
		if budget.Policy == "per_class" && n > budget.Budget && !p.keeps() {
			p.fatalf("class %d has %d samples in the memory, the budget is %d", class, n, budget.Budget)
		}
	}
	if capacity := m.Capacity(6); m.Len() > capacity {
		p.fatalf("the memory holds %d samples, want at most %d", m.Len(), capacity)
	}
}

// keeps says whether the method fills the memory itself, while tasks run.
func (p *player) keeps() bool {
	return p.learner.method.Storer != nil
}

func (p *player) play() {
	p.start()
	defer func() { p.learner.Close() }()
	p.attach()
	for range 5 + p.rng.IntN(25) {
		switch n := p.rng.IntN(20); {
		case n < 12:
			p.step()
		case n < 15:
			p.attach()
		case n < 16:
			p.detach()
		case n < 17:
			p.evaluate()
		case n < 18:
			p.save()
		case n < 19:
			p.load()
		}
		p.check()
	}
	p.learner.Close()
	if _, err := p.learner.Step(); !errors.Is(err, ErrClosed) {
		p.fatalf("a step of a closed learner: %v", err)
	}
}

// sequenceMethods are what sequences draw from; the first is drawn twice as often.
var sequenceMethods = []string{
	"emgd-gmc", "emgd-gmc", "avggrad", "er", "der-pp", "icarl", "gss", "gdumb", "mir", "emgd-gmc+der-pp",
	"emgd-gmc+per-task", "famo+gss+der-pp", "avggrad+ewc+lwf", "emgd-gmc+si+der-pp+x-der",
}

// TestRandomSequences plays them all. A failure names the seed.
func TestRandomSequences(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		net := must.Get(model.NewMLP(seqInputs, []int{5}, seqOutputs))(t)
		programs := NewPrograms(b)
		defer programs.Close()
		folder := t.TempDir()
		count := *sequences
		if b.Info.Name != backend.Go {
			count /= 10
		}
		for seed := range count {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			pick := func(of ...string) string { return of[rng.IntN(len(of))] }
			p := &player{
				t: t, rng: rng, path: filepath.Join(folder, "learner.pcl"), names: 1,
				world: &world{trained: map[int]int{}},
				options: Options{
					Backend: b, Programs: programs, Model: net, Batch: seqBatch,
					Method:    newMethod(t, pick(sequenceMethods...), map[string]any{}),
					Increment: pick("task", "class"),
					Optimizer: optim.SGD{LR: 0.01},
					Memory:    memory.Config{Policy: pick("per_class", "fixed_total"), Budget: rng.IntN(5)},
					Seed:      uint64(seed),
				},
			}
			p.log = []string{fmt.Sprintf("seed %d: %s, %s, %v", seed, method.Describe(p.options.Method).Name,
				p.options.Increment, p.options.Memory)}
			p.play()
		}
	})
}
