package analytic

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// savedModel is a model as JSON. Whole numbers are varints, in the order of their rows.
type savedModel struct {
	Features int         `json:"features"`
	Sums     savedSums   `json:"sums"`
	Tasks    []savedTask `json:"tasks"`
}

type savedSums struct {
	Gram    []byte       `json:"gram,omitempty"`
	Classes []savedClass `json:"classes"`
}

type savedClass struct {
	Class int    `json:"class"`
	N     int    `json:"n"`
	Sum   []byte `json:"sum"`
}

type savedTask struct {
	Task   int         `json:"task"`
	Counts map[int]int `json:"counts"` // by class
	Digest digest      `json:"digest"`
	Sums   *savedSums  `json:"sums,omitempty"`
}

// MarshalJSON returns what the model remembers. It is the same for models that have seen the same
// samples, in whatever order.
func (m *Model) MarshalJSON() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flush()
	s := savedModel{Features: m.features, Tasks: []savedTask{}}
	if m.all != nil {
		s.Sums = m.all.save()
	}
	for _, id := range slices.Sorted(maps.Keys(m.tasks)) {
		t := m.tasks[id]
		saved := savedTask{Task: id, Counts: t.classes, Digest: t.digest}
		if t.sums != nil {
			own := t.sums.save()
			saved.Sums = &own
		}
		s.Tasks = append(s.Tasks, saved)
	}
	return json.Marshal(s)
}

// UnmarshalJSON makes the model what [Model.MarshalJSON] returned of another with the same head. If
// that is impossible, it changes nothing.
func (m *Model) UnmarshalJSON(text []byte) error {
	var s savedModel
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	next := New(m.head, m.keep)
	if err := next.load(s); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.features, m.all, m.tasks, m.waiting = next.features, next.all, next.tasks, nil
	m.renew()
	return nil
}

func (m *Model) load(s savedModel) error {
	if len(s.Tasks) == 0 {
		return nil
	}
	if err := m.begin(s.Features); err != nil {
		return err
	}
	counts := map[int]int{}
	for _, saved := range s.Tasks {
		t := &taskSum{classes: saved.Counts, digest: saved.Digest}
		if m.tasks[saved.Task] != nil || t.n() < 1 {
			return fmt.Errorf("the sums of task %d are there twice, or of no samples", saved.Task)
		}
		for class, n := range t.classes {
			if n < 1 || n > math.MaxInt32 {
				return fmt.Errorf("task %d has %d samples of class %d", saved.Task, n, class)
			}
			counts[class] += n
		}
		if m.keep != (saved.Sums != nil) {
			return errors.New("sums of single tasks are there and were not to be kept, or the other way round")
		}
		if m.keep {
			var err error
			if t.sums, err = m.loadSums(*saved.Sums, t.classes); err != nil {
				return fmt.Errorf("task %d: %w", saved.Task, err)
			}
		}
		m.tasks[saved.Task] = t
	}
	var err error
	m.all, err = m.loadSums(s.Sums, counts)
	return err
}

func (s *sums) save() savedSums {
	out := savedSums{Gram: varints(s.gram.v), Classes: []savedClass{}}
	for _, id := range s.ids() {
		c := s.classes[id]
		out.Classes = append(out.Classes, savedClass{id, c.n, varints(c.s)})
	}
	return out
}

// loadSums reads sums of so many samples of each class.
func (m *Model) loadSums(saved savedSums, counts map[int]int) (*sums, error) {
	s := newSums(m.head.width(m.features), m.head.products())
	if err := wholeNumbers(saved.Gram, s.gram.v); err != nil {
		return nil, fmt.Errorf("products: %w", err)
	}
	for _, c := range saved.Classes {
		if c.N != counts[c.Class] || s.classes[c.Class] != nil {
			return nil, fmt.Errorf("sums of %d samples of class %d, of which there are %d", c.N, c.Class, counts[c.Class])
		}
		of := &classSum{c.N, make([]float64, m.head.width(m.features))}
		if err := wholeNumbers(c.Sum, of.s); err != nil {
			return nil, fmt.Errorf("class %d: %w", c.Class, err)
		}
		s.classes[c.Class] = of
		s.n += c.N
	}
	if len(s.classes) != len(counts) {
		return nil, fmt.Errorf("sums of %d classes, of which there are %d", len(s.classes), len(counts))
	}
	return s, nil
}

func varints(v []float64) (out []byte) {
	for _, x := range v {
		out = binary.AppendUvarint(out, uint64(x))
	}
	return out
}

// wholeNumbers reads as many numbers as v has.
func wholeNumbers(text []byte, v []float64) error {
	for i := range v {
		x, n := binary.Uvarint(text)
		if n <= 0 || x >= 1<<53 {
			return errors.New("damaged numbers")
		}
		v[i], text = float64(x), text[n:]
	}
	if len(text) > 0 {
		return errors.New("more numbers than there are sums")
	}
	return nil
}
