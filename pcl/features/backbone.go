package features

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

	mu           sync.Mutex
	known, older map[key][]uint8 // the last codes that were asked for, and those before them
	most         int             // how many each of both has
	cached       int             // entries of the cache, in which there are so many at most, too
	pending      bytes.Buffer    // entries that are not in the cache yet
	err          error           // after Close
}

// mostKnown is how many pictures a backbone adds to the cache, with those that are there already:
// 88 MB. It knows up to twice as many.
const mostKnown = 1 << 16

var errClosed = errors.New("features: the backbone is closed")

// Open opens the backbone for pictures of height × width with 1 channel, grey, or 3. Its weights
// are fetched if need be. Features that the cache has are not computed again; others are added to
// it from time to time, and by Close, until it has those of 65,536 pictures. After that only
// pictures that were there lately are not computed again.
func Open(ctx context.Context, s Spec, o Options, height, width, channels int) (b *Backbone, err error) {
	b = &Backbone{size: Pictures{Height: height, Width: width, Channels: channels}, known: map[key][]uint8{},
		most: mostKnown}
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
	if b.on, err = o.open(ctx); err != nil {
		return nil, err
	}
	if b.network, err = newNetwork(b.on, w, s); err == nil && w.onnx != nil {
		_, err = b.network.ready(b.size)
	}
	if err != nil {
		b.on.Close()
		return nil, err
	}
	b.store = s.store(b.dir, sum, b.network.width)
	err = b.store.find(func(key) bool { return true }, func(k key, codes []uint8) {
		b.take(k, bytes.Clone(codes))
		b.cached++
	})
	if err != nil {
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

// codesOf returns the codes of a picture; nil if they are not known.
func (b *Backbone) codesOf(k key) []uint8 {
	if codes := b.known[k]; codes != nil {
		return codes
	}
	codes := b.older[k]
	if codes != nil {
		b.take(k, codes)
	}
	return codes
}

// take remembers codes. If there are too many, those are forgotten that were not asked for lately.
func (b *Backbone) take(k key, codes []uint8) {
	if len(b.known) >= b.most {
		b.known, b.older = map[key][]uint8{}, b.known
	}
	b.known[k] = codes
}

// Inputs is how many values a picture has.
func (b *Backbone) Inputs() int { return b.size.one() }

// Width is how many values its features have.
func (b *Backbone) Width() int { return b.network.width }

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
	codes := map[key][]uint8{}
	for i := range keys {
		k := keyOf(p, i)
		if keys[i] = k; codes[k] != nil {
			continue
		}
		if codes[k] = b.codesOf(k); codes[k] == nil {
			missing, codes[k] = append(missing, i), make([]uint8, b.Width())
		}
	}
	if err := b.compute(p, keys, missing, codes); err != nil {
		return nil, err
	}
	out := make([]float32, len(keys)*b.Width())
	for i, k := range keys {
		fp.Units(out[i*b.Width():], codes[k])
	}
	return out, nil
}

// compute makes the codes of some pictures. Its caller holds the lock.
func (b *Backbone) compute(p Pictures, keys []key, which []int, codes map[key][]uint8) error {
	if len(which) == 0 {
		return nil
	}
	var mu sync.Mutex
	err := b.network.each(context.Background(), p, which, func(i int, values []float32) error {
		k := keys[i]
		if err := Encode(codes[k], values); err != nil {
			return fmt.Errorf("picture %d: %w", i, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if b.take(k, codes[k]); b.cached < b.most {
			b.cached++
			b.pending.Write(b.store.entryOf(k, codes[k]))
		}
		return nil
	})
	if err != nil || b.pending.Len() < mostEntries*b.store.entrySize() {
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
		delete(b.older, keyOf(p, i))
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
