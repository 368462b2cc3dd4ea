package features

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// values are the pixels of pictures as a learner's samples have them.
func values(p Pictures) []float32 {
	x := make([]float32, len(p.Pixels))
	for i, c := range p.Pixels {
		x[i] = float32(c) / 255
	}
	return x
}

// TestBackbone: the features of pictures are the codes that Of makes, whether they come one by one
// or together, and from the cache when the backbone is opened again.
func TestBackbone(t *testing.T) {
	s, opened := drawnSpec(t), 0
	o := Options{Dir: t.TempDir(), Open: counted(&opened)}
	p := drawnPictures(3, 8, 8, 3)
	want := must.Get(Of(t.Context(), s, Options{Dir: t.TempDir(), Open: o.Open}, p))(t)[0]
	for _, again := range []string{"first", "from the cache"} {
		b := must.Get(Open(t.Context(), s, o, 8, 8, 3))(t)
		if b.Inputs() != 192 || b.Width() != Width {
			t.Errorf("%d inputs, %d features", b.Inputs(), b.Width())
		}
		x := values(p)
		got := slices.Concat(must.Get(b.Of(x[:192]))(t), must.Get(b.Of(x[192:]))(t))
		codes := make([]uint8, len(got))
		must.Do(t, Codes(codes, got))
		if !slices.Equal(codes, want) {
			t.Errorf("%s: other codes", again)
		}
		made := map[string]int{"first": 3}[again]
		if n := b.pending.Len() / entrySize; n != made {
			t.Errorf("%s: %d pictures were computed, want %d", again, n, made)
		}
		must.Do(t, b.Close())
		if _, err := b.Of(x); !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// TestBackboneForgets: forgotten pictures are in the cache no more, also those that were not
// written yet; others are.
func TestBackboneForgets(t *testing.T) {
	s := drawnSpec(t)
	o := Options{Dir: t.TempDir(), Open: openGo}
	b := must.Get(Open(t.Context(), s, o, 8, 8, 1))(t)
	x := values(drawnPictures(3, 8, 8, 1))
	must.Get(b.Of(x))(t)
	must.Do(t, b.Forget(x[:128]))
	must.Do(t, b.Close())
	kept := must.Get(List(o.Dir))(t)
	if len(kept) != 1 || kept[0].Pictures != 1 {
		t.Errorf("kept %+v, want one picture", kept)
	}
}

// TestBackboneRefuses: what is not pictures of bytes.
func TestBackboneRefuses(t *testing.T) {
	b := must.Get(Open(t.Context(), drawnSpec(t), Options{Dir: t.TempDir(), Open: openGo}, 8, 8, 1))(t)
	t.Cleanup(func() { must.Do(t, b.Close()) })
	for want, x := range map[string][]float32{
		"are not pictures of 8×8×1": make([]float32, 65),
		"want c/255 for a code c":   slices.Repeat([]float32{0.3}, 64),
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := b.Of(x); err == nil || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
			if err := b.Forget(x); err == nil || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		})
	}
	if _, err := Open(t.Context(), drawnSpec(t), Options{Dir: t.TempDir()}, 0, 8, 1); err == nil {
		t.Error("pictures without rows were taken")
	}
}
