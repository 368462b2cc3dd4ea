package features

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Options say with what features are computed, and where they are kept.
type Options struct {
	// Open opens the backend that computes those that are not in the cache. It is closed
	// afterwards. nil stands for the best one of this machine.
	Open     func(context.Context) (*backend.Backend, error)
	Dir      string    // folder of the cache; empty stands for features in the user's cache folder of this program
	Progress io.Writer // is told of the download and of how far the pictures have come; nil for silence
	// Name is what errors call picture i of a list; nil stands for its number.
	Name func(list, i int) string
}

func (o Options) name(list, i int) string {
	if o.Name == nil {
		return fmt.Sprintf("picture %d", i)
	}
	return o.Name(list, i)
}

// open opens the backend.
func (o Options) open(ctx context.Context) (*backend.Backend, error) {
	if o.Open == nil {
		return backend.Open(ctx, backend.Options{})
	}
	return o.Open(ctx)
}

// Of returns, for each of the lists, the codes of its pictures, as many for each as the backbone
// has features. Codes that are in the cache are read there. All others are computed and added to
// it, also if ctx ends before all are done.
func Of(ctx context.Context, s Spec, o Options, lists ...Pictures) ([][]uint8, error) {
	dir, err := cacheDir(o.Dir)
	if err != nil {
		return nil, err
	}
	x := &extraction{spec: s, options: o, dir: dir, lists: lists}
	if err := x.index(); err != nil {
		return nil, err
	}
	err = x.all(ctx)
	return x.out, err
}

// Missing returns how many pictures, of those that differ, have no features in the cache.
func Missing(s Spec, dir string, lists ...Pictures) (int, error) {
	dir, err := cacheDir(dir)
	if err != nil {
		return 0, err
	}
	x := &extraction{spec: s, dir: dir, lists: lists}
	if err := x.index(); err != nil {
		return 0, err
	}
	sum, err := s.OwnWeights()
	if err != nil {
		return 0, err
	}
	if kept, known := s.kept(dir, cmp.Or(sum, published)); known {
		err = x.look(kept)
	}
	return len(x.missing), err
}

// place is a picture: its list and its number in it.
type place struct{ list, i int }

// extraction is a call of [Of].
type extraction struct {
	spec    Spec
	options Options
	dir     string
	lists   []Pictures
	width   int // how many codes a picture has, once that is known
	out     [][]uint8
	missing map[key][]place // the pictures whose codes are not in out yet; equal ones have one key
	on      *backend.Backend
	network *network // nil until something is computed
}

func (x *extraction) index() error {
	x.missing = map[key][]place{}
	for l, p := range x.lists {
		if err := p.check(); err != nil {
			return err
		}
		for i := range p.Len() {
			k := keyOf(p, i)
			x.missing[k] = append(x.missing[k], place{l, i})
		}
	}
	return nil
}

// found writes the codes of a picture to all places where it stands.
func (x *extraction) found(k key, codes []uint8) {
	for _, at := range x.missing[k] {
		copy(x.out[at.list][at.i*x.width:], codes)
	}
	delete(x.missing, k)
}

// look reads what the cache has.
func (x *extraction) look(s store) error {
	if x.out == nil {
		x.width = s.width
		for _, p := range x.lists {
			x.out = append(x.out, make([]uint8, p.Len()*s.width))
		}
	}
	return s.find(func(k key) bool { return x.missing[k] != nil }, x.found)
}

// all reads what the cache has and computes the rest. Of several processes, one computes, and the
// others read what it made.
func (x *extraction) all(ctx context.Context) error {
	defer x.close()
	sum := published
	var w *weights
	if x.spec.Weights != "" {
		var err error
		if w, err = x.spec.read(); err != nil {
			return err
		}
		sum = w.sum
	}
	s, known := x.spec.kept(x.dir, sum)
	if known {
		if err := x.look(s); err != nil || len(x.missing) == 0 {
			return err
		}
	}
	if w == nil {
		var err error
		if w, err = installed(ctx, x.dir, x.options.Progress); err != nil {
			return err
		}
	}
	if !known {
		if err := x.open(ctx, w); err != nil {
			return err
		}
		s = x.spec.store(x.dir, sum, x.network.width)
	}
	unlock, err := s.lock(ctx, func() {
		say(x.options.Progress, "Waiting for another process that computes features...\n")
	})
	if err != nil {
		return err
	}
	defer unlock()
	if err := x.look(s); err != nil || len(x.missing) == 0 {
		return err
	}
	if err := x.open(ctx, w); err != nil {
		return err
	}
	return x.compute(ctx, s)
}

// open opens the network, unless it is open. It is made ready, by which its width is known.
func (x *extraction) open(ctx context.Context, w *weights) (err error) {
	if x.network != nil {
		return nil
	}
	if x.on, err = x.options.open(ctx); err != nil {
		return err
	}
	if x.network, err = newNetwork(x.on, w, x.spec); err == nil && w.onnx != nil {
		_, err = x.network.ready(x.lists[0])
	}
	return err
}

func (x *extraction) close() {
	if x.network != nil {
		x.network.close()
	}
	if x.on != nil {
		x.on.Close()
	}
}

// compute makes the features that are missing.
func (x *extraction) compute(ctx context.Context, s store) (err error) {
	made := &maker{extraction: x, store: s, begun: time.Now(), total: len(x.missing),
		line: terminal.NewLine(x.options.Progress)}
	defer made.line.Close()
	for l := range x.lists {
		if err = made.list(ctx, x.network, l); err != nil {
			break
		}
	}
	if err := cmp.Or(err, made.flush()); err != nil { // what was made is kept in any case
		return err
	}
	say(x.options.Progress, "%s: the features of %d pictures in %s\n", x.spec, made.total,
		time.Since(made.begun).Round(time.Second/10))
	return nil
}

// maker keeps what is computed.
type maker struct {
	*extraction
	store
	begun       time.Time
	done, total int
	line        *terminal.Line
	mu          sync.Mutex
	pending     bytes.Buffer // entries that are not in a file yet
}

// list computes those that are missing of a list.
func (m *maker) list(ctx context.Context, n *network, l int) error {
	keys := map[int]key{}
	for k, places := range m.missing {
		if places[0].list == l {
			keys[places[0].i] = k
		}
	}
	if len(keys) == 0 {
		return nil
	}
	which := make([]int, 0, len(keys))
	for i := range keys {
		which = append(which, i)
	}
	slices.Sort(which)
	return n.each(ctx, m.lists[l], which, func(i int, values []float32) error {
		codes := make([]uint8, n.width)
		if err := Encode(codes, values); err != nil {
			return fmt.Errorf("%s: %w", m.options.name(l, i), err)
		}
		return m.keep(keys[i], codes)
	})
}

// keep takes the codes of a picture.
func (m *maker) keep(k key, codes []uint8) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found(k, codes)
	m.pending.Write(m.entryOf(k, codes))
	m.done++
	rate := float64(m.done) / time.Since(m.begun).Seconds()
	left := time.Duration(float64(m.total-m.done) / rate * float64(time.Second))
	m.line.Show("features: %d of %d pictures, %.0f a second, %s left", m.done, m.total, rate, left.Round(time.Second))
	if m.pending.Len() < mostEntries*m.entrySize() {
		return nil
	}
	return m.flush()
}

func (m *maker) flush() error {
	defer m.pending.Reset()
	return m.write(m.pending.Bytes())
}
