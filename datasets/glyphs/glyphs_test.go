package glyphs

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func generateT(t testing.TB, c Config) (train, test Images) {
	t.Helper()
	train, test, err := Generate(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return train, test
}

func TestDefaults(t *testing.T) {
	train, test := generateT(t, Config{})
	if len(train.Labels) != 400*62 || len(test.Labels) != 80*62 || len(train.Pixels) != 400*62*784 || len(test.Pixels) != 80*62*784 {
		t.Errorf("%d training and %d test images", len(train.Labels), len(test.Labels))
	}
	for i, l := range train.Labels {
		if int(l) != i%62 {
			t.Fatalf("label %d is %d: want %d", i, l, i%62)
		}
	}
}

func TestRenderIsGenerate(t *testing.T) {
	c := Config{Seed: 5, TrainPerClass: 3, TestPerClass: 2}
	train, test := generateT(t, c)
	for _, part := range []Part{Train, Test} {
		all := map[Part]Images{Train: train, Test: test}[part]
		for i, class := range all.Labels {
			got, err := Render(c, part, int(class), i/62)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, all.Pixels[i*Bytes:(i+1)*Bytes]) {
				t.Fatalf("part %d, image %d: Render and Generate differ", part, i)
			}
		}
	}
}

// TestPrefix: asking for more images per class does not change the ones there were.
func TestPrefix(t *testing.T) {
	few, _ := generateT(t, Config{TrainPerClass: 2, TestPerClass: 1})
	many, _ := generateT(t, Config{TrainPerClass: 4, TestPerClass: 1})
	if !bytes.Equal(few.Pixels, many.Pixels[:len(few.Pixels)]) {
		t.Error("the first two images of each class depend on how many there are")
	}
}

func TestDrawsDiffer(t *testing.T) {
	base, _ := Render(Config{}, Train, 10, 0)
	for name, f := range map[string]func() ([]uint8, error){
		"seed":       func() ([]uint8, error) { return Render(Config{Seed: 1}, Train, 10, 0) },
		"part":       func() ([]uint8, error) { return Render(Config{}, Test, 10, 0) },
		"class":      func() ([]uint8, error) { return Render(Config{}, Train, 11, 0) },
		"index":      func() ([]uint8, error) { return Render(Config{}, Train, 10, 1) },
		"difficulty": func() ([]uint8, error) { return Render(Config{Difficulty: 0.5}, Train, 10, 0) },
	} {
		if other, err := f(); err != nil || bytes.Equal(base, other) {
			t.Errorf("another %s gives the same image (error %v)", name, err)
		}
	}
	train, test := generateT(t, Config{TrainPerClass: 20, TestPerClass: 20})
	seen := map[string]bool{}
	for i := range train.Labels {
		seen[string(train.Pixels[i*Bytes:(i+1)*Bytes])] = true
		seen[string(test.Pixels[i*Bytes:(i+1)*Bytes])] = true
	}
	if len(seen) != 40*62 {
		t.Errorf("%d different images of %d", len(seen), 40*62)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []Config{{TrainPerClass: -1}, {TestPerClass: 1e6}, {Difficulty: -1}, {Difficulty: 4}} {
		if _, _, err := Generate(t.Context(), c); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%+v: error %v", c, err)
		}
		if _, err := Render(c, Train, 0, 0); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	for _, f := range []func() ([]uint8, error){
		func() ([]uint8, error) { return Render(Config{}, 2, 0, 0) },
		func() ([]uint8, error) { return Render(Config{}, Train, 62, 0) },
		func() ([]uint8, error) { return Render(Config{}, Train, 0, -1) },
	} {
		if _, err := f(); err == nil {
			t.Error("part, class or index out of range: no error")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Generate(ctx, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestHardness holds the set where a benchmark is of use: a linear classifier is far from chance
// (8 %) and far from perfect, and print without distortion is easy.
func TestHardness(t *testing.T) {
	if testing.Short() {
		t.Skip("trains classifiers: not in -short")
	}
	train, test := generateT(t, Config{})
	for s := range uint64(2) {
		if acc := linearProbe(train, test, subset(s, 12), 5); acc < 0.5 || acc > 0.75 {
			t.Errorf("linear accuracy on 12 classes (draw %d) is %.3f: want 0.5 to 0.75", s, acc)
		}
	}
	train, test = generateT(t, Config{Difficulty: 0.01, TrainPerClass: 100, TestPerClass: 20})
	if acc := linearProbe(train, test, subset(0, 12), 5); acc < 0.95 {
		t.Errorf("linear accuracy on clean print is %.3f: want 0.95", acc)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		generateT(b, Config{})
	}
}

func BenchmarkRender(b *testing.B) {
	fonts, err := loadFonts()
	if err != nil {
		b.Fatal(err)
	}
	p, dst := newPainter(fonts), make([]uint8, Bytes)
	c, err := Config{}.withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		p.paint(dst, c, Train, i%62, i/62)
		i++
	}
}
