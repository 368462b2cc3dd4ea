package analytic

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Model learns from samples, each of which belongs to a task and to a class, and counts once. Its
// methods may be called from several goroutines.
type Model struct {
	head Head
	keep bool // whether each task's sums are kept

	mu       sync.Mutex
	features int   // of a sample; 0 before the first
	all      *sums // without those that wait
	tasks    map[int]*taskSum
	waiting  []sample // fewer than a block, which are added up together

	version int           // changes with the sums
	epoch   int           // changes where weights that were made before must not be used any more
	latest  *Weights      // the last weights; nil before the first
	solved  int           // the version that they are of
	solving chan struct{} // closed when the weights that are being made are there; nil if none are
	failed  error         // why the last weights could not be made
}

// taskSum is what is known of a task: how many samples of each class, a digest of all that does not
// depend on their order, and its sums, if they are kept.
type taskSum struct {
	classes map[int]int
	digest  digest
	sums    *sums
}

type sample struct {
	task, class int
	x           []uint8
}

// New returns a model that has seen nothing. With keep it also keeps the sums of each task, which
// Unlearn can then take away without the samples.
func New(head Head, keep bool) *Model {
	return &Model{head: head, keep: keep, tasks: map[int]*taskSum{}, solved: -1}
}

// Add adds a sample.
func (m *Model) Add(task, class int, x []float32) error {
	q := make([]uint8, len(x))
	if err := Quantise(x, q); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(len(x)); err != nil {
		return err
	}
	t := m.tasks[task]
	if t == nil {
		t = &taskSum{classes: map[int]int{}}
		if m.keep {
			t.sums = newSums(m.head.width(m.features), m.head.products())
		}
		m.tasks[task] = t
	}
	t.classes[class]++
	t.digest.add(class, q)
	m.version++
	if m.waiting = append(m.waiting, sample{task, class, q}); len(m.waiting) == block {
		m.flush()
	}
	return nil
}

// mostFeatures is the limit up to which float32 holds the projections of RanPAC exactly.
const mostFeatures = 1 << 16

// begin makes the sums for the first sample.
func (m *Model) begin(features int) error {
	switch {
	case features < 1 || features >= mostFeatures:
		return fmt.Errorf("a sample has %d features; want 1 to %d", features, mostFeatures-1)
	case m.features == 0:
		m.features, m.all = features, newSums(m.head.width(features), m.head.products())
	case features != m.features:
		return fmt.Errorf("a sample has %d features, those before had %d", features, m.features)
	}
	return nil
}

// flush adds the samples that wait to the sums.
func (m *Model) flush() {
	if len(m.waiting) == 0 {
		return
	}
	rows, classes := m.columns(m.waiting)
	m.all.add(rows, classes, 1)
	if m.keep {
		m.keepSums(rows)
	}
	m.waiting = nil
}

func (m *Model) columns(samples []sample) (rows [][]float32, classes []int) {
	x := make([][]uint8, len(samples))
	for i, s := range samples {
		x[i], classes = s.x, append(classes, s.class)
	}
	return m.head.columns(x), classes
}

// keepSums adds the rows of the samples that wait to the sums of their tasks.
func (m *Model) keepSums(rows [][]float32) {
	of, classes := map[int][][]float32{}, map[int][]int{}
	for i, s := range m.waiting {
		of[s.task], classes[s.task] = append(of[s.task], rows[i]), append(classes[s.task], s.class)
	}
	for task, own := range of {
		m.tasks[task].sums.add(own, classes[task], 1)
	}
}

// Unlearn takes away all that a task has added. The model is then, bit by bit, what it would be if
// the task had never come. samples are the class and the features of all samples that the task
// added, in any order; nil stands for the kept sums. If they are not the task's, Unlearn returns an
// error, and nothing changes.
func (m *Model) Unlearn(task int, samples iter.Seq2[int, []float32]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tasks[task]
	switch {
	case t == nil:
		return fmt.Errorf("task %d has added no samples", task)
	case samples == nil && t.sums == nil:
		return errors.New("the sums of single tasks were not kept; want the samples of the task")
	}
	var away []sample
	if samples != nil {
		var err error
		if away, err = m.verified(task, t, samples); err != nil {
			return err
		}
	}
	m.flush()
	delete(m.tasks, task)
	m.renew()
	if len(m.tasks) == 0 {
		m.features, m.all = 0, nil
		return nil
	}
	if samples == nil {
		m.all.take(t.sums)
		return nil
	}
	for some := range slices.Chunk(away, block) {
		rows, classes := m.columns(some)
		m.all.add(rows, classes, -1)
	}
	return nil
}

// renew forgets the weights, also those that are being made.
func (m *Model) renew() {
	m.version++
	m.epoch++
	m.latest, m.solved, m.solving, m.failed = nil, -1, nil, nil
}

// verified returns the samples if they are those that the task has added.
func (m *Model) verified(task int, t *taskSum, samples iter.Seq2[int, []float32]) (all []sample, err error) {
	var d digest
	counts := map[int]int{}
	for class, x := range samples {
		q := make([]uint8, len(x))
		if err := Quantise(x, q); err != nil {
			return nil, fmt.Errorf("sample %d: %w", len(all), err)
		}
		d.add(class, q)
		counts[class]++
		all = append(all, sample{task, class, q})
	}
	if d != t.digest || !maps.Equal(counts, t.classes) {
		return nil, fmt.Errorf("these %d samples are not the %d that task %d has added; want exactly those, in any order",
			len(all), t.n(), task)
	}
	return all, nil
}

func (t *taskSum) n() (n int) {
	for _, c := range t.classes {
		n += c
	}
	return n
}

// Seen returns how many samples have been added and not been unlearnt.
func (m *Model) Seen() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen()
}

func (m *Model) seen() (n int) {
	for _, t := range m.tasks {
		n += t.n()
	}
	return n
}

// Bytes returns how large the sums are in memory.
func (m *Model) Bytes() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		return 0
	}
	n = m.all.bytes()
	for _, t := range m.tasks {
		if t.sums != nil {
			n += t.sums.bytes()
		}
	}
	return n
}

func (s *sums) bytes() (n int) {
	n = 8 * len(s.gram.v)
	for _, c := range s.classes {
		n += 8 * len(c.s)
	}
	return n
}

// Weights returns the weights for all samples that have been added, or nil if there are none.
func (m *Model) Weights() (*Weights, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.seen() > 0 && m.solved != m.version {
		m.await(m.start())
		if m.failed != nil {
			return nil, m.failed
		}
	}
	return m.latest, nil
}

// Latest returns the last weights that were made, and whether they are for all samples. If they are
// not, new ones are being made when it returns. It waits only for the first.
func (m *Model) Latest() (w *Weights, current bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen() == 0 {
		return nil, true, nil
	}
	if m.solved != m.version {
		made := m.start()
		if m.latest == nil {
			m.await(made)
		}
	}
	return m.latest, m.solved == m.version, m.failed
}

func (m *Model) await(made chan struct{}) {
	m.mu.Unlock()
	<-made
	m.mu.Lock()
}

// start begins to make weights for the sums as they are, unless some are being made.
func (m *Model) start() (made chan struct{}) {
	if m.solving != nil {
		return m.solving
	}
	m.flush()
	made = make(chan struct{})
	m.solving, m.failed = made, nil
	s, version, epoch := m.all.clone(), m.version, m.epoch
	w := &Weights{head: m.head, features: m.features, seen: s.n, classes: s.ids()}
	_, w.unit = m.head.(ClassMeans)
	go func() {
		var err error
		w.w, w.added, err = m.head.solve(s)
		m.mu.Lock()
		defer m.mu.Unlock()
		defer close(made)
		if epoch != m.epoch {
			return
		}
		if m.solving, m.failed = nil, err; err == nil {
			m.latest, m.solved = w, version
		}
	}()
	return made
}
