package memory

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/seed"
)

// Reservoir keeps a uniform random sample of each class of a stream, each of whose samples is seen
// once: the candidates for the store when the stream ends (Vitter's algorithm R, once per class).
type Reservoir struct {
	task  int
	quota int
	rng   *seed.Source
	seen  map[int]int // class → samples that passed
	kept  map[int][]Item
	order []int // classes by first appearance, so that the outcome has one order
}

// NewReservoir returns an empty reservoir for one task; quota is per class, and runSeed the seed of
// the run.
func NewReservoir(task, quota int, runSeed uint64) *Reservoir {
	return &Reservoir{
		task: task, quota: quota, rng: seed.New(runSeed, "reservoir", task),
		seen: map[int]int{}, kept: map[int][]Item{},
	}
}

// Offer shows the reservoir one sample; pixels are copied if it is kept. A sample that is not
// finite is never taken. It is counted only if its class was full already, since its values are
// then looked at only when it is drawn.
func (r *Reservoir) Offer(class int, pixels []float32) {
	if r.quota == 0 {
		return
	}
	n := r.seen[class]
	if n < r.quota && !fp.Finite(pixels) {
		return
	}
	if n == 0 {
		r.order = append(r.order, class)
	}
	r.seen[class] = n + 1
	if n < r.quota {
		own := append([]float32(nil), pixels...)
		r.kept[class] = append(r.kept[class], Item{Task: r.task, Class: class, Pixels: own})
		return
	}
	if k := r.rng.IntN(n + 1); k < r.quota && fp.Finite(pixels) {
		r.kept[class][k].Pixels = slices.Clone(pixels) // the old ones may be in use: Items does not copy them
	}
}

// Items returns the candidates, class by class.
func (r *Reservoir) Items() []Item {
	var out []Item
	for _, c := range r.order {
		out = append(out, r.kept[c]...)
	}
	return out
}

// Draw returns at most n of the candidates of each class, drawn at random: the places of a
// reservoir are not equally likely to hold early samples and late ones, so that its first n would
// not be a fair draw. Where there are no more than n, nothing is drawn.
func (r *Reservoir) Draw(n int) []Item {
	var out []Item
	n = max(n, 0)
	for _, c := range r.order {
		kept := r.kept[c]
		if len(kept) <= n {
			out = append(out, kept...)
			continue
		}
		for _, k := range r.rng.Perm(len(kept))[:n] {
			out = append(out, kept[k])
		}
	}
	return out
}

// reservoirState is all that a reservoir remembers, but for the pixels.
type reservoirState struct {
	Task  int    `json:"task"`
	Quota int    `json:"quota"`
	Rand  []byte `json:"rand"`
	Order []int  `json:"order"`
	Seen  []int  `json:"seen"` // by Order
	Kept  []int  `json:"kept"` // by Order
}

// State returns what restores the reservoir: JSON, and the pixels of the kept samples, one after
// another.
func (r *Reservoir) State() (json.RawMessage, []float32) {
	rng, _ := r.rng.MarshalBinary() // of two numbers there is no error
	s := reservoirState{Task: r.task, Quota: r.quota, Rand: rng, Order: r.order}
	for _, c := range r.order {
		s.Seen = append(s.Seen, r.seen[c])
		s.Kept = append(s.Kept, len(r.kept[c]))
	}
	text, _ := json.Marshal(s) // of whole numbers there is no error
	return text, flatten(r.Items())
}

// RestoreReservoir is the inverse of [Reservoir.State] for samples of size pixels.
func RestoreReservoir(text json.RawMessage, pixels []float32, size int) (*Reservoir, error) {
	var s reservoirState
	err := json.Unmarshal(text, &s)
	if err != nil || s.Quota < 0 || len(s.Seen) != len(s.Order) || len(s.Kept) != len(s.Order) || !fp.Finite(pixels) {
		return nil, errDamaged
	}
	r := NewReservoir(s.Task, s.Quota, 0)
	if err := r.rng.UnmarshalBinary(s.Rand); err != nil {
		return nil, fmt.Errorf("memory: reservoir: %w", err)
	}
	r.order = s.Order
	for i, c := range s.Order {
		if r.seen[c] != 0 || s.Seen[i] < 1 || s.Kept[i] != min(s.Seen[i], s.Quota) || s.Kept[i] > len(pixels)/size {
			return nil, fmt.Errorf("%w: class %d kept %d of %d samples seen", errDamaged, c, s.Kept[i], s.Seen[i])
		}
		r.seen[c] = s.Seen[i]
		for own := range slices.Chunk(pixels[:s.Kept[i]*size], size) {
			r.kept[c] = append(r.kept[c], Item{Task: s.Task, Class: c, Pixels: slices.Clone(own)})
		}
		pixels = pixels[s.Kept[i]*size:]
	}
	if len(pixels) != 0 {
		return nil, errDamaged
	}
	return r, nil
}
