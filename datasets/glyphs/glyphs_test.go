package glyphs

import (
	"bytes"
	"context"
	"errors"
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

func TestRenderIsGenerate(t *testing.T) {
	c := Config{Seed: 5, TrainPerClass: 3, TestPerClass: 2}
	train, test := generateT(t, c)
	for _, part := range []Part{Train, Test} {
		all := map[Part]Images{Train: train, Test: test}[part]
		for i, class := range all.Labels {
			if got := Render(c, part, int(class), i/62); !bytes.Equal(got, all.Pixels[i*Bytes:(i+1)*Bytes]) {
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
	base := Render(Config{}, Train, 10, 0)
	for name, other := range map[string][]uint8{
		"seed":       Render(Config{Seed: 1}, Train, 10, 0),
		"part":       Render(Config{}, Test, 10, 0),
		"class":      Render(Config{}, Train, 11, 0),
		"index":      Render(Config{}, Train, 10, 1),
		"difficulty": Render(Config{Difficulty: 0.5}, Train, 10, 0),
	} {
		if bytes.Equal(base, other) {
			t.Errorf("another %s gives the same image", name)
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
	for name, misuse := range map[string]func(){
		"train": func() { Render(Config{TrainPerClass: -1}, Train, 0, 0) }, "test": func() { generateT(t, Config{TestPerClass: 1e6}) },
		"easy": func() { Render(Config{Difficulty: -1}, Train, 0, 0) }, "hard": func() { generateT(t, Config{Difficulty: 4}) },
		"part": func() { Render(Config{}, 2, 0, 0) }, "class": func() { Render(Config{}, Train, 62, 0) }, "index": func() { Render(Config{}, Train, 0, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s out of range: no panic", name)
				}
			}()
			misuse()
		}()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Generate(ctx, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestHardness holds the set where a benchmark is of use: a simple linear classifier, by the nearest mean of a class, is far
// from chance (8 %) and far from perfect, and print without distortion is easy.
func TestHardness(t *testing.T) {
	for difficulty, want := range map[float64][2]float64{1: {0.4, 0.7}, 0.01: {0.95, 1}} {
		train, test := generateT(t, Config{Difficulty: difficulty, TrainPerClass: 100, TestPerClass: 40})
		if acc := nearestMean(train, test, 12); acc < want[0] || acc > want[1] {
			t.Errorf("difficulty %g: accuracy %.3f; want %v", difficulty, acc, want)
		}
	}
}

// nearestMean is the share of test images of the first classes that are nearest to the mean image of their own class.
func nearestMean(train, test Images, classes int) float64 {
	means, right, n := make([][Bytes]float64, classes), 0, 0
	distance := func(i int, s Images, class int) (sum float64) {
		for k, p := range s.Pixels[i*Bytes : (i+1)*Bytes] {
			sum += (float64(p) - means[class][k]) * (float64(p) - means[class][k])
		}
		return sum
	}
	for i, l := range train.Labels {
		for k, p := range train.Pixels[i*Bytes : (i+1)*Bytes] {
			if int(l) < classes {
				means[l][k] += float64(p) * float64(len(Classes)) / float64(len(train.Labels))
			}
		}
	}
	for i, l := range test.Labels {
		if int(l) >= classes {
			continue
		}
		best := 0
		for class := range classes {
			if distance(i, test, class) < distance(i, test, best) {
				best = class
			}
		}
		if n++; best == int(l) {
			right++
		}
	}
	return float64(right) / float64(n)
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		generateT(b, Config{})
	}
}
