package features

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Backbone computes features of pictures of one size as they come, for pcl.Options.Features. Any
// goroutine may call it. Close it when the learner is closed.
type Backbone struct {
	size    Pictures // without pixels
	dir     string   // of the cache
	store   store
	network *network
	on      *backend.Backend

	mu      sync.Mutex
	known   map[key][]uint8
	pending bytes.Buffer // entries that are not in the cache yet
	err     error        // after Close
}

var errClosed = errors.New("features: the backbone is closed")

// Open opens the backbone for pictures of height × width with 1 channel, grey, or 3. Its weights
// are fetched if need be. Features that the cache has are not computed again; others are added to
// it from time to time, and by Close.
func Open(ctx context.Context, s Spec, o Options, height, width, channels int) (b *Backbone, err error) {
	b = &Backbone{size: Pictures{Height: height, Width: width, Channels: channels}, known: map[key][]uint8{}}
	if err := b.size.check(); err != nil {
		return nil, err
	}
	if b.dir, err = cacheDir(o.Dir); err != nil {
		return nil, err
	}
	w, sum, err := weightsOf(ctx, s, b.dir, o.Progress)
	if err != nil {
		return nil, err
	}
	b.store = store{filepath.Join(b.dir, s.folder(sum))}
	if b.on, err = o.open(ctx); err != nil {
		return nil, err
	}
	if b.network, err = newNetwork(b.on, w, s); err != nil {
		b.on.Close()
		return nil, err
	}
	if err := b.store.find(func(key) bool { return true }, b.take); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// weightsOf returns a backbone's weights and their checksum.
func weightsOf(ctx context.Context, s Spec, dir string, progress io.Writer) (w *weights, sum string, err error) {
	if s.Weights == "" {
		w, err = installed(ctx, dir, progress)
		return w, published, err
	}
	if w, err = s.read(); err != nil {
		return nil, "", err
	}
	return w, w.sum, nil
}

func (b *Backbone) take(k key, codes []uint8) { b.known[k] = bytes.Clone(codes) }

// Inputs is how many values a picture has.
func (b *Backbone) Inputs() int { return b.size.one() }

// Width is how many values its features have.
func (b *Backbone) Width() int { return Width }

// pictures are those whose values lie in x one after another: c/255 for a byte c.
func (b *Backbone) pictures(x []float32) (Pictures, error) {
	p := b.size
	p.Pixels = make([]uint8, len(x))
	if len(x)%p.one() != 0 {
		return p, fmt.Errorf("features: %d values are not pictures of %d×%d×%d", len(x), p.Height, p.Width, p.Channels)
	}
	return p, Codes(p.Pixels, x)
}

// Of returns the features of pictures, whose values, c/255 for a byte c, lie in x one after
// another.
func (b *Backbone) Of(x []float32) ([]float32, error) {
	p, err := b.pictures(x)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	keys := make([]key, p.Len())
	var missing []int
	begun := map[key]bool{}
	for i := range keys {
		keys[i] = keyOf(p, i)
		if b.known[keys[i]] == nil && !begun[keys[i]] {
			missing, begun[keys[i]] = append(missing, i), true
		}
	}
	if err := b.compute(p, keys, missing); err != nil {
		return nil, err
	}
	out := make([]float32, len(keys)*Width)
	for i, k := range keys {
		fp.Units(out[i*Width:], b.known[k])
	}
	return out, nil
}

// compute makes the codes of some pictures. Its caller holds the lock.
func (b *Backbone) compute(p Pictures, keys []key, which []int) error {
	if len(which) == 0 {
		return nil
	}
	var mu sync.Mutex
	err := b.network.each(context.Background(), p, which, func(i int, values []float32) error {
		codes := make([]uint8, Width)
		if err := Encode(codes, values); err != nil {
			return fmt.Errorf("picture %d: %w", i, err)
		}
		mu.Lock()
		defer mu.Unlock()
		b.known[keys[i]] = codes
		b.pending.Write(b.store.entryOf(keys[i], codes))
		return nil
	})
	if err != nil || b.pending.Len() < mostEntries*entrySize {
		return err
	}
	return b.flush()
}

func (b *Backbone) flush() error {
	defer b.pending.Reset()
	return b.store.write(b.pending.Bytes())
}

// Forget removes the features of pictures, whose values lie in x one after another, from the whole
// cache, as [Drop].
func (b *Backbone) Forget(x []float32) error {
	p, err := b.pictures(x)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	if err := b.flush(); err != nil {
		return err
	}
	for i := range p.Len() {
		delete(b.known, keyOf(p, i))
	}
	_, err = Drop(context.Background(), b.dir, p)
	return err
}

// Close keeps what was computed, and lets go of the backend.
func (b *Backbone) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil
	}
	b.err = errClosed
	b.network.close()
	b.on.Close()
	return b.flush()
}
