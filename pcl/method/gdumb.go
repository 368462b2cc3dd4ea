package method

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

func init() {
	Register(Spec{
		Info: gdumbInfo,
		Params: []Param{
			{Name: "passes", Default: 256.0, Doc: "number of passes over the memory before a prediction, at least 1; with a power of two, training ends at the lowest learning rate"},
			{Name: "cutmix", Default: 0.5, Doc: "probability in [0, 1] that CutMix mixes the images of a batch"},
			{Name: "lr", Default: 0.05, Doc: "largest learning rate, in (0, 1e3]"},
			{Name: "min_lr", Default: 0.0005, Doc: "smallest learning rate, from 0 to lr"},
		},
		New: func(p Params) (Method, error) { return newGDumb(p) },
	})
}

var gdumbInfo = Info{
	Name: "gdumb", Title: "GDumb", Family: "scl",
	Rule:   "no training while tasks run: the memory is filled with an equal number of samples of each class, and for predictions a new network is trained on the memory alone",
	Source: "Prabhu, Torr & Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual Learning, ECCV 2020",
	Cost:   "none per step; passes × (F+B) of the whole memory per evaluation", State: "only the memory", SumW: "1 (not used)",
}

// gdumb trains only when a prediction is asked for (docs/method.md §5.8): SGD with momentum, one warm pass,
// then cosine restarts whose cycles double from one pass on, with CutMix.
type gdumb struct {
	passes            int
	cutmix, lr, minLR float64
}

// Settings that the paper fixes.
const (
	gdumbBatch    = 16
	gdumbMomentum = 0.9
	gdumbDecay    = 1e-6
	gdumbClip     = 10
	gdumbWarm     = 0.1 // of the largest rate, in the first pass
)

func newGDumb(p Params) (gdumb, error) {
	passes, err := whole("passes", p.Float("passes"), 1, 1e6)
	m := gdumb{passes: passes, cutmix: p.Float("cutmix"), lr: p.Float("lr"), minLR: p.Float("min_lr")}
	return m, errors.Join(err, within("cutmix", m.cutmix, 0, 1), within("lr", m.lr, 1e-12, 1e3), within("min_lr", m.minLR, 0, m.lr))
}

func (gdumb) Info() Info { return gdumbInfo }

// Idle says that no step is made while tasks run.
func (gdumb) Idle() bool { return true }

// Weights is the mean. The engine does not call it, since it makes no steps.
func (gdumb) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.check(gdumbInfo, w); err != nil {
		return Outcome{}, err
	}
	fill(w, 1/float64(len(w)))
	return Outcome{}, nil
}

// Keep takes in samples while there is room, and then in place of one of a largest class.
func (gdumb) Store(lab StoreLab) error {
	g := balance(lab.Memory())
	for _, batch := range lab.Current() {
		for _, it := range batch {
			g.offer(it, lab.Rand())
		}
	}
	return nil
}

// greedy is a store with the places of each class.
type greedy struct {
	store *memory.Store
	order []int // classes, by first appearance
	at    map[int][]int
}

func balance(s *memory.Store) *greedy {
	g := &greedy{store: s, at: map[int][]int{}}
	for i := range s.Len() {
		it := s.Item(i)
		g.meet(it.Class)
		g.at[it.Class] = append(g.at[it.Class], i)
	}
	return g
}

func (g *greedy) meet(class int) {
	if _, met := g.at[class]; !met {
		g.order, g.at[class] = append(g.order, class), nil
	}
}

func (g *greedy) offer(it memory.Item, r *rand.Rand) {
	g.meet(it.Class)
	if n := g.store.Len(); n < g.store.Capacity(len(g.order)) {
		if g.store.Put(it) {
			g.at[it.Class] = append(g.at[it.Class], n)
		}
		return
	}
	largest := g.largest()
	if len(largest) == 0 || len(g.at[it.Class]) >= len(g.at[largest[0]]) {
		return
	}
	victim := largest[r.IntN(len(largest))]
	k := r.IntN(len(g.at[victim]))
	i := g.at[victim][k]
	if g.store.Replace(i, it) {
		g.at[victim] = slices.Delete(g.at[victim], k, k+1)
		g.at[it.Class] = append(g.at[it.Class], i)
	}
}

// largest lists the classes with the most samples.
func (g *greedy) largest() (classes []int) {
	most := 0
	for _, c := range g.order {
		if n := len(g.at[c]); n > most {
			most, classes = n, nil
		}
		if len(g.at[c]) == most {
			classes = append(classes, c)
		}
	}
	return classes
}

// Prepare trains a new network on the store. Its draws depend on the step alone, so that evaluating
// changes nothing in the run.
func (m gdumb) Prepare(lab PredictLab) error {
	if err := lab.Restart(); err != nil {
		return err
	}
	store, r := lab.Memory(), seed.New(0, "gdumb", lab.Step()).Rand
	size := max(1, min(gdumbBatch, lab.Batch()/2)) // a mixed sample is two in a batch
	for pass := range m.passes {
		sgd := SGD{LR: m.rate(pass), Momentum: gdumbMomentum, Decay: gdumbDecay, Clip: gdumbClip}
		for batch := range slices.Chunk(r.Perm(store.Len()), size) {
			samples, shares := itemsAt(store, batch), []float64(nil)
			if r.Float64() < m.cutmix && len(samples) > 1 {
				var err error
				if samples, shares, err = cutmix(lab, samples, r); err != nil {
					return err
				}
			}
			if err := lab.Descend(samples, shares, sgd); err != nil {
				return err
			}
		}
	}
	return nil
}

// rate is the learning rate of a pass: cycles of 1, 2, 4, … passes after the warm one.
func (m gdumb) rate(pass int) float64 {
	if pass == 0 {
		return gdumbWarm * m.lr
	}
	t, cycle := pass-1, 1
	for t >= cycle {
		t, cycle = t-cycle, 2*cycle
	}
	return m.minLR + (m.lr-m.minLR)*(1+math.Cos(math.Pi*float64(t)/float64(cycle)))/2
}

// cutmix puts a box of another sample of the batch into each, one box for all (Yun et al., 2019, with α = 1).
// A mixed picture comes twice, once with each of its two labels; the two share its weight in the loss in
// proportion to their areas.
func cutmix(lab Lab, batch []memory.Item, r *rand.Rand) (samples []memory.Item, shares []float64, err error) {
	height, width, channels := lab.Image()
	if n := len(batch[0].Pixels); height*width*channels != n || n == 0 {
		return nil, nil, fmt.Errorf("cutmix needs pictures, and samples of %d values are no %d×%d×%d: set cutmix to 0", n, height, width, channels)
	}
	side := math.Sqrt(r.Float64()) // √(1−λ), λ uniform
	top, bottom := cut(height, side, r)
	left, right := cut(width, side, r)
	area := float64((bottom-top)*(right-left)) / float64(height*width)
	for i, other := range r.Perm(len(batch)) {
		a, b := batch[i], batch[other]
		a.Pixels = slices.Clone(a.Pixels)
		for y := top; y < bottom; y++ {
			from, to := (y*width+left)*channels, (y*width+right)*channels
			copy(a.Pixels[from:to], b.Pixels[from:to])
		}
		b.Pixels = a.Pixels
		samples = append(samples, a, b)
		shares = append(shares, (1-area)/float64(len(batch)), area/float64(len(batch)))
	}
	return samples, shares, nil
}

// cut is a range of the given part of n, at least 1, around a random place, and cut off at the ends.
func cut(n int, part float64, r *rand.Rand) (from, to int) {
	size := max(1, int(float64(n)*part))
	from = r.IntN(n) - size/2
	return max(from, 0), min(from+size, n)
}

// Predict asks the new network.
func (gdumb) Predict(lab PredictLab, samples []memory.Item) ([]int, error) {
	return lab.Predict(Apart, samples)
}
