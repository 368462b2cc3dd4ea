package features

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// counted opens the Go backend, and counts how often.
func counted(n *int) func(context.Context) (*backend.Backend, error) {
	return func(ctx context.Context) (*backend.Backend, error) {
		*n++
		return openGo(ctx)
	}
}

// drawnSpec has drawn weights and the smallest size.
func drawnSpec(t *testing.T) Spec { return Spec{Backbone: Lite0, Size: 32, Weights: drawnFile(t, 1)} }

// entryFile returns the one file with entries in a cache.
func entryFile(t *testing.T, dir string) string {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(dir, "*", "*"+fileEnding)))(t)
	if len(files) != 1 {
		t.Fatalf("files %q; want one", files)
	}
	return files[0]
}

// TestCache: pictures are computed once, equal ones too; damaged entries are made again, and
// nothing else.
func TestCache(t *testing.T) {
	s, opened := drawnSpec(t), 0
	var said bytes.Buffer
	o := Options{Dir: t.TempDir(), Open: counted(&opened), Progress: &said}
	train, test := drawnPictures(3, 8, 8, 3), drawnPictures(2, 8, 8, 3)
	train.Pixels = append(train.Pixels, train.of(1)...)
	first := must.Get(Of(t.Context(), s, o, train, test))(t)
	if len(first) != 2 || len(first[0]) != 4*Width || !slices.Equal(first[0][Width:2*Width], first[0][3*Width:]) {
		t.Fatalf("codes of %d lists; want 2, of which the first has 4 pictures and two equal ones", len(first))
	}
	if !strings.Contains(said.String(), "the features of 5 pictures") {
		t.Errorf("said %q", said.String())
	}
	file := entryFile(t, o.Dir)
	whole := must.Get(os.ReadFile(file))(t)
	other := s
	other.Weights = drawnFile(t, 2)
	dir := t.TempDir()
	must.Get(Of(t.Context(), other, Options{Dir: dir, Open: openGo}, train, test))(t)
	elsewhere := must.Get(os.ReadFile(entryFile(t, dir)))(t) // the same pictures on another backbone
	for _, c := range []struct {
		name   string
		damage func() []byte
		opens  int
	}{
		{"whole", func() []byte { return whole }, 0},
		{"a flipped bit", func() []byte { d := bytes.Clone(whole); d[entrySize+700] ^= 4; return d }, 1},
		{"a flipped bit of a key", func() []byte { d := bytes.Clone(whole); d[3] ^= 1; return d }, 1},
		{"cut off", func() []byte { return whole[:2*entrySize+5] }, 1},
		{"empty", func() []byte { return nil }, 1},
		{"another file", func() []byte { return []byte("<html>") }, 1},
		{"of another folder", func() []byte { return elsewhere }, 1},
		{"as written by older builds, without the folder", func() []byte { return unnamed(whole) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range must.Get(filepath.Glob(filepath.Join(filepath.Dir(file), "*"+fileEnding)))(t) {
				must.Do(t, os.Remove(f))
			}
			must.Do(t, os.WriteFile(file, c.damage(), 0o644))
			for range 2 {
				opened = 0
				again := must.Get(Of(t.Context(), s, o, train, test))(t)
				if !slices.Equal(again[0], first[0]) || !slices.Equal(again[1], first[1]) {
					t.Error("other codes")
				}
				if opened != c.opens {
					t.Errorf("the backend was opened %d times; want %d", opened, c.opens)
				}
				c.opens = 0
			}
		})
	}
}

// unnamed returns entries whose checksums are of keys and codes alone.
func unnamed(data []byte) (out []byte) {
	for entry := range slices.Chunk(data, entrySize) {
		n := len(entry) - 4
		out = binary.LittleEndian.AppendUint32(append(out, entry[:n]...), crc32.ChecksumIEEE(entry[:n]))
	}
	return out
}

// TestCopiedEntries: what was copied from the folders of other sizes, flips and weights is never
// used, also beside entries that belong there, and a Backbone doesn't use it either. Drop removes
// it.
func TestCopiedEntries(t *testing.T) {
	p := drawnPictures(2, 8, 8, 3)
	all := []Spec{drawnSpec(t), drawnSpec(t), drawnSpec(t), drawnSpec(t)}
	all[1].Size, all[2].Flips, all[3].Weights = 64, true, drawnFile(t, 2)
	o := Options{Dir: t.TempDir(), Open: openGo}
	var right [][]uint8
	for _, s := range all {
		right = append(right, must.Get(Of(t.Context(), s, o, p))(t)[0])
	}
	own := must.Get(filepath.Glob(filepath.Join(o.Dir, "*", "*"+fileEnding)))(t)
	for _, from := range own {
		for _, to := range own {
			if from != to {
				must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(to), "0"+filepath.Base(from)),
					must.Get(os.ReadFile(from))(t), 0o644))
			}
		}
	}
	opened := 0
	o.Open = counted(&opened)
	for i, s := range all {
		if codes := must.Get(Of(t.Context(), s, o, p))(t)[0]; !slices.Equal(codes, right[i]) || opened > 0 {
			t.Errorf("%s: other codes, or computed again", s)
		}
		b := must.Get(Open(t.Context(), s, Options{Dir: o.Dir, Open: openGo}, 8, 8, 3))(t)
		if !slices.Equal(b.known[keyOf(p, 0)], right[i][:Width]) || !slices.Equal(b.known[keyOf(p, 1)], right[i][Width:]) {
			t.Errorf("%s: a Backbone knows other codes", s)
		}
		must.Do(t, b.Close())
	}
	if n, err := Drop(t.Context(), o.Dir, Pictures{8, 8, 3, p.of(0)}); n != 4 || err != nil {
		t.Errorf("dropped %d entries, %v; want 4", n, err)
	}
	for _, k := range must.Get(List(o.Dir))(t) {
		if k.Pictures != 1 || k.Damaged != 0 || k.Bytes != int64(entrySize) {
			t.Errorf("left: %+v", k)
		}
	}
}

// TestDropKeeps: what stays of a file is kept, also where something was added to its end.
func TestDropKeeps(t *testing.T) {
	s, o, p := drawnSpec(t), Options{Dir: t.TempDir(), Open: openGo}, drawnPictures(2, 8, 8, 3)
	must.Get(Of(t.Context(), s, o, p))(t)
	file := entryFile(t, o.Dir)
	must.Do(t, os.WriteFile(file, append(must.Get(os.ReadFile(file))(t), "more"...), 0o644))
	if n, err := Drop(t.Context(), o.Dir, drawnPictures(1, 7, 7, 3)); n != 0 || err != nil {
		t.Errorf("dropped %d entries, %v; want none", n, err)
	}
	if kept := must.Get(List(o.Dir))(t); kept[0].Pictures != 2 || kept[0].Damaged != 0 {
		t.Errorf("left: %+v", kept)
	}
}

// TestCachesApart: another backbone's weights, another size and flips have entries of their own,
// which List names and Delete removes; Drop removes a picture from all.
func TestCachesApart(t *testing.T) {
	opened := 0
	o := Options{Dir: t.TempDir(), Open: counted(&opened)}
	p := drawnPictures(2, 8, 8, 3)
	all := []Spec{drawnSpec(t), drawnSpec(t), drawnSpec(t), drawnSpec(t)}
	all[1].Size, all[2].Flips, all[3].Weights = 64, true, drawnFile(t, 2)
	var codes [][]uint8
	for _, s := range all {
		codes = append(codes, must.Get(Of(t.Context(), s, o, p))(t)[0])
	}
	if opened != 4 || slices.Equal(codes[0], codes[1]) || slices.Equal(codes[0], codes[2]) ||
		slices.Equal(codes[0], codes[3]) {
		t.Errorf("opened %d times; want 4 caches with codes of their own", opened)
	}
	kept := must.Get(List(o.Dir))(t)
	if len(kept) != 4 || kept[0].Pictures != 2 || kept[0].Bytes != int64(2*entrySize) || kept[0].Damaged != 0 {
		t.Errorf("%+v", kept)
	}
	if n, err := Drop(t.Context(), o.Dir, Pictures{8, 8, 3, p.of(0)}); n != 4 || err != nil {
		t.Errorf("dropped %d entries, %v; want 4", n, err)
	}
	must.Do(t, Delete(t.Context(), o.Dir, kept[0].Name))
	kept = must.Get(List(o.Dir))(t)
	if len(kept) != 3 || kept[2].Pictures != 1 {
		t.Errorf("left: %+v", kept)
	}
	for _, name := range []string{"nothing", "", "..", ".", "../x"} {
		if err := Delete(t.Context(), o.Dir, name); err == nil {
			t.Errorf("deleted %q", name)
		}
	}
}

// TestCacheShared: of several processes that want the same features at once, one computes them.
func TestCacheShared(t *testing.T) {
	s, dir, p := drawnSpec(t), t.TempDir(), drawnPictures(3, 8, 8, 1)
	var mu sync.Mutex
	opened := 0
	o := Options{Dir: dir, Open: func(ctx context.Context) (*backend.Backend, error) {
		mu.Lock()
		opened++
		mu.Unlock()
		return openGo(ctx)
	}}
	var all sync.WaitGroup
	codes := make([][]uint8, 4)
	for i := range codes {
		all.Go(func() { codes[i] = must.Get(Of(t.Context(), s, o, p))(t)[0] })
	}
	all.Wait()
	for _, c := range codes {
		if !slices.Equal(c, codes[0]) {
			t.Error("other codes")
		}
	}
	if opened != 1 {
		t.Errorf("the backend was opened %d times; want once", opened)
	}
}

// TestInterrupted: features that were computed before an interruption are in the cache.
func TestInterrupted(t *testing.T) {
	s, p := drawnSpec(t), drawnPictures(5, 8, 8, 3)
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Dir: t.TempDir(), Open: openGo}
	n := newDrawn(t, backend.Go, s)
	m := &maker{extraction: &extraction{spec: s, options: o, lists: []Pictures{p}},
		store: store{filepath.Join(o.Dir, "x"), Width}}
	must.Do(t, m.index())
	kept := 0
	err := n.each(ctx, p, []int{0, 1, 2, 3, 4}, func(i int, values []float32) error {
		if kept++; kept == 2 {
			cancel()
		}
		m.pending.Write(m.entryOf(keyOf(p, i), make([]uint8, Width)))
		return nil
	})
	must.Do(t, m.flush())
	if all := must.Get(List(o.Dir))(t); !errors.Is(err, context.Canceled) || kept > 3 || all[0].Pictures != kept {
		t.Errorf("%v after %d pictures, of which %+v are kept", err, kept, all)
	}
}

// TestBadPictures: a picture of one pixel, a grey one and a black one have features; bytes that are
// not a picture are refused.
func TestBadPictures(t *testing.T) {
	o := Options{Dir: t.TempDir(), Open: openGo}
	s := drawnSpec(t)
	for name, p := range map[string]Pictures{
		"one pixel": {1, 1, 3, []uint8{9, 200, 3}}, "grey": {1, 2, 1, []uint8{7, 9}}, "black": {3, 3, 3, make([]uint8, 27)},
	} {
		if codes, err := Of(t.Context(), s, o, p); err != nil || slices.Max(codes[0]) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range map[string]Pictures{
		"CMYK": {2, 2, 4, make([]uint8, 16)}, "half": {2, 2, 3, make([]uint8, 13)}, "no pixels": {0, 2, 3, nil},
	} {
		if _, err := Of(t.Context(), s, o, p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if codes, err := Of(t.Context(), s, o, Pictures{2, 2, 3, nil}); err != nil || len(codes[0]) != 0 {
		t.Errorf("no pictures: %v, %v", codes, err)
	}
}
