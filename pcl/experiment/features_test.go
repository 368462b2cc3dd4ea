package experiment

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/features"
)

// drawnBackbone writes weights to a file in a folder, and returns the text of features with them.
// The cache is the test's own.
func drawnBackbone(t *testing.T, dir string, seed uint64) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	must.Do(t, atomicfile.Write(filepath.Join(dir, "drawn.safetensors"), features.Draw(seed).Write))
	return "efficientnet-lite0:size=32,weights=" + filepath.Join(dir, "drawn.safetensors")
}

// photos makes a folder of two classes of pictures of the given height and width, and returns the
// name of the set.
func photos(t *testing.T, dir string, each, side int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for class := range 2 {
		for i := range each {
			img := image.NewGray(image.Rect(0, 0, side, side+i))
			for j := range img.Pix {
				img.Pix[j] = uint8(rng.IntN(100) + class*100)
			}
			path := filepath.Join(dir, "photos", fmt.Sprint("class ", class), fmt.Sprintf("%02d.png", i))
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(t, atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) }))
		}
	}
	return "folder:" + filepath.Join(dir, "photos")
}

// TestRunOnFeatures: a run on features trains an MLP on vectors of bytes, which are computed once,
// from pictures of the backbone's size.
func TestRunOnFeatures(t *testing.T) {
	dir := t.TempDir()
	text, name := drawnBackbone(t, dir, 1), photos(t, dir, 10, 40)
	opened := 0
	m := &Machine{Open: func(ctx context.Context) (*backend.Backend, error) {
		opened++
		return backend.Open(ctx, backend.Options{Name: backend.Go})
	}}
	defer m.Close()
	values := map[string]any{"dataset": name, "features": text, "batch": 4, "tasks": 1}
	c := must.Get(NewConfig(Layer{Values: values}))(t)
	if c.Model != "mlp" || !slices.Equal(c.Hidden, []int{256}) {
		t.Errorf("the model is %s %v", c.Model, c.Hidden)
	}
	checked := must.Get(must.Get(c.Check())(t).OnData(t.Context(), datasets.Options{}))(t)
	store := Store{Dir: t.TempDir()}
	for e, err := range Each(t.Context(), []Checked{checked}, store, Schedule{Machine: m}) {
		must.Do(t, err)
		if !strings.Contains(e.Run.Variant, "features efficientnet-lite0:size=32") {
			t.Errorf("the result says %q", e.Run.Variant)
		}
	}
	if opened != 2 { // for the features, and for the run
		t.Errorf("the backend was opened %d times; want 2", opened)
	}
	set := must.Get(m.DatasetOf(t.Context(), c))(t)
	switch {
	case set.Vector != features.Width:
		t.Errorf("set.Vector is %d; want %d", set.Vector, features.Width)
	case set.Features != must.Get(features.Parse(text))(t).String():
		t.Errorf("vectors of %d, %q, %d of them; opened %d times", set.Vector, set.Features, set.Train.Len(), opened)
	case set.Train.Len() != 16:
		t.Errorf("set.Train.Len() is %d; want 16", set.Train.Len())
	case opened != 2:
		t.Errorf("opened is %d; want 2", opened)
	}
	x := make([]float32, features.Width)
	set.Select(&set.Train, 0, 1).Sample(0, x)
	codes := make([]uint8, features.Width)
	must.Do(t, features.Codes(codes, x))
	few := c
	few.TrainPerClass, few.TestPerClass = 3, 1
	part := must.Get(m.DatasetOf(t.Context(), few))(t)
	again := make([]uint8, features.Width)
	part.Select(&part.Train, 0, 1).Sample(0, x)
	must.Do(t, features.Codes(again, x))
	switch {
	case part.Train.Len() != 6:
		t.Errorf("part.Train.Len() is %d; want 6", part.Train.Len())
	case part.Test.Len() != 2:
		t.Errorf("part.Test.Len() is %d; want 2", part.Test.Len())
	case !slices.Equal(codes, again):
		t.Errorf("codes is %q; want %q", codes, again)
	case opened != 2:
		t.Errorf("opened is %d; want 2", opened)
	}
}

// TestFeaturesID: a configuration without features has the id that it had before there were any;
// defaults of features that are written out, and a copy of the weights elsewhere, change nothing;
// other weights do.
func TestFeaturesID(t *testing.T) {
	plain := DefaultConfig("glyphs")
	if text := string(must.Get(plain.MarshalJSON())(t)); strings.Contains(text, "features") ||
		strings.Contains(text, "augment") {
		t.Errorf("the id is made of %s", text)
	}
	a, b := plain.OnFeatures("efficientnet-lite0"), plain.OnFeatures("efficientnet-lite0:flips=false,size=128")
	if a.ID() != b.ID() || a.ID() == plain.ID() {
		t.Errorf("ids %s, %s and without features %s", a.ID(), b.ID(), plain.ID())
	}
	dir := t.TempDir()
	text, name := drawnBackbone(t, dir, 1), photos(t, dir, 2, 8)
	c := must.Get(DefaultConfig(name).OnFeatures(text).OnData(t.Context(), datasets.Options{}))(t)
	drawnBackbone(t, dir, 2)
	_, err := c.OnData(t.Context(), datasets.Options{})
	expect.Refusal(t, "other weights in the file", err, ErrData)
}

// TestFeaturesRefused: what features cannot be made of, or be beside, is an error that says so.
func TestFeaturesRefused(t *testing.T) {
	dir := t.TempDir()
	text := drawnBackbone(t, dir, 1)
	must.Do(t, os.WriteFile(filepath.Join(dir, "v.csv"), []byte("a,b,class\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n"), 0o644))
	m := &Machine{Open: func(context.Context) (*backend.Backend, error) { return nil, errors.New("not opened") }}
	_, err := m.DatasetOf(t.Context(), DefaultConfig("csv:"+dir+"/v.csv").OnFeatures(text))
	expect.Refusal(t, "vectors", err, "has vectors")
	for want, change := range map[string]func(c *Config){
		"want efficientnet-lite0": func(c *Config) { c.Features = "resnet50" },
		"multiple of 32":          func(c *Config) { c.Features = "efficientnet-lite0:size=100" },
		"resnet18 takes images":   func(c *Config) { c.Features, c.Model, c.Hidden = "efficientnet-lite0", "resnet18", nil },
		"flips=true instead":      func(c *Config) { c.Features, c.Augment = "efficientnet-lite0", "flip" },
		"want flip, crop":         func(c *Config) { c.Augment = "flip,rotate" },
	} {
		t.Run(want, func(t *testing.T) {
			c := DefaultConfig("glyphs")
			change(&c)
			_, err = c.Check()
			expect.Refusal(t, "Check", err, want)
		})
	}
}

// TestPictureWithoutFeatures: the error names the file or, where there is none, says which picture
// it is, and what to do; also of a part of the pictures.
func TestPictureWithoutFeatures(t *testing.T) {
	dir := t.TempDir()
	text, name := drawnBackbone(t, dir, 1), photos(t, dir, 4, 8)
	f := features.Draw(1)
	for _, tensor := range f.Tensors {
		if strings.HasSuffix(tensor.Name, ".bias") && len(tensor.Values) == features.Width {
			for i := range tensor.Values {
				tensor.Values[i] = -1e6 // the last ReLU gives 0
			}
		}
	}
	must.Do(t, atomicfile.Write(filepath.Join(dir, "drawn.safetensors"), f.Write))
	for _, c := range []struct {
		name, dataset string
		limit         int
		want          string
	}{
		{"all", name, 0, filepath.Join(dir, "photos", "class ")},
		{"one a class", name, 1, filepath.Join(dir, "photos", "class ")},
		{"without files", "glyphs", 1, "glyphs: training picture "},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := DefaultConfig(c.dataset).OnFeatures(text)
			config.TrainPerClass, config.TestPerClass = c.limit, c.limit
			m := &Machine{Open: func(ctx context.Context) (*backend.Backend, error) {
				return backend.Open(ctx, backend.Options{Name: backend.Go})
			}}
			_, err := m.DatasetOf(t.Context(), config)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "want a larger size") {
				t.Fatalf("%v; want %s…", err, c.want)
			}
			file, _, _ := strings.Cut(err.Error(), ": ")
			if _, err := os.Stat(file); err != nil && c.dataset == name {
				t.Error(err)
			}
			d := must.Get(datasets.Open(t.Context(), c.dataset, datasets.Options{}))(t)
			second := slices.Index(d.Train.Labels, 1) // the second class's first picture
			if first := []string{d.Train.File(0), d.Train.File(second)}; c.limit == 1 && c.dataset == name &&
				!slices.Contains(first, file) {
				t.Errorf("%s; want one of %q", file, first)
			}
		})
	}
}

// TestCMYK: a JPEG of four colours and pictures of one pixel have features as others do.
func TestCMYK(t *testing.T) {
	dir := t.TempDir()
	text, name := drawnBackbone(t, dir, 1), photos(t, dir, 2, 1)
	jpeg := must.Get(os.ReadFile("testdata/cmyk.jpg"))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "photos", "class 0", "c.jpg"), jpeg, 0o644))
	m := &Machine{Open: func(ctx context.Context) (*backend.Backend, error) {
		return backend.Open(ctx, backend.Options{Name: backend.Go})
	}}
	set := must.Get(m.DatasetOf(t.Context(), DefaultConfig(name).OnFeatures(text)))(t)
	if set.Train.Len()+set.Test.Len() != 5 {
		t.Errorf("%d and %d pictures", set.Train.Len(), set.Test.Len())
	}
}

// TestAugment: a flip mirrors, a crop moves by up to an eighth with zeros at the edges, and both
// leave most pixels what they are.
func TestAugment(t *testing.T) {
	d := &datasets.Dataset{Height: 16, Width: 8, Channels: 3}
	picture := make([]float32, 16*8*3)
	for i := range picture {
		picture[i] = float32(i + 1)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, text := range []string{"flip", "crop", "crop,flip"} {
		t.Run(text, func(t *testing.T) {
			c := DefaultConfig("glyphs")
			c.Augment = text
			f := must.Get(c.augment(d))(t)
			seen := map[string]bool{}
			for range 400 {
				x := slices.Clone(picture)
				f(rng, x)
				seen[fmt.Sprint(x)] = true
				zeros := 0
				for _, v := range x {
					if v == 0 {
						zeros++
					}
				}
				if most := 2*8*3 + 16*3; zeros > most || text == "flip" && zeros > 0 {
					t.Fatalf("%d zeros; want at most %d", zeros, most)
				}
			}
			if want := map[string]int{"flip": 2, "crop": 5 * 3, "crop,flip": 2 * 5 * 3}[text]; len(seen) != want {
				t.Errorf("%d pictures; want %d", len(seen), want)
			}
		})
	}
	c := DefaultConfig("glyphs")
	if f, err := c.augment(d); f != nil || err != nil {
		t.Error("without augment something is changed")
	}
}
