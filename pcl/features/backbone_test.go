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

// TestBackboneIsBounded: a backbone that has seen many pictures knows the last ones, and adds no
// more to the cache, but what it makes of any is the same, also of more in one call than it can
// know.
func TestBackboneIsBounded(t *testing.T) {
	s := drawnSpec(t)
	o := Options{Dir: t.TempDir(), Open: openGo}
	p := drawnPictures(10, 8, 8, 1)
	want := must.Get(Of(t.Context(), s, Options{Dir: t.TempDir(), Open: openGo}, p))(t)[0]
	for _, turn := range []string{"first", "from the cache"} {
		b := must.Get(Open(t.Context(), s, o, 8, 8, 1))(t)
		b.most = 4
		for _, c := range []struct {
			name     string
			from, to int
		}{{"one", 0, 1}, {"another", 1, 2}, {"more than are known", 0, 10}, {"the first again", 0, 1}, {"some", 5, 9}} {
			t.Run(turn+"/"+c.name, func(t *testing.T) {
				codes := make([]uint8, (c.to-c.from)*Width)
				must.Do(t, Codes(codes, must.Get(b.Of(values(p)[c.from*64:c.to*64]))(t)))
				if !slices.Equal(codes, want[c.from*Width:c.to*Width]) {
					t.Error("other codes")
				}
				if len(b.known) > b.most || len(b.older) > b.most {
					t.Errorf("%d and %d pictures are known; want at most %d each", len(b.known), len(b.older), b.most)
				}
			})
		}
		must.Do(t, b.Close())
		if kept := must.Get(List(o.Dir))(t); len(kept) != 1 || kept[0].Pictures != 4 {
			t.Errorf("%s: the cache has %+v; want 4 pictures", turn, kept)
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
