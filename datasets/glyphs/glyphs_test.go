package glyphs

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

func generateT(t testing.TB, c Config) (train, test Images) {
	t.Helper()
	train, test, err := Generate(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return train, test
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
	base, _ := generateT(t, Config{TrainPerClass: 20, TestPerClass: 20})
	seed, _ := generateT(t, Config{TrainPerClass: 20, Seed: 1})
	hard, test := generateT(t, Config{TrainPerClass: 20, TestPerClass: 20, Difficulty: 0.5})
	seen := map[string]bool{}
	for _, s := range []Images{base, test, seed, hard} {
		for i := range s.Labels {
			seen[string(s.Pixels[i*pixels:(i+1)*pixels])] = true
		}
	}
	if len(seen) != 80*62 {
		t.Errorf("%d different images of %d", len(seen), 80*62)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []Config{{TrainPerClass: -1}, {TestPerClass: 1e6}, {Difficulty: -1}, {Difficulty: 4}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", c)
				}
			}()
			generateT(t, c)
		}()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Generate(ctx, Config{})
	expect.Refusal(t, "cancelled", err, context.Canceled)
}

// TestHardness holds the set where a benchmark is of use: a simple linear classifier, by the
// nearest mean of a class, is far from chance (8 %) and far from perfect, and print without
// distortion is easy.
func TestHardness(t *testing.T) {
	for difficulty, want := range map[float64][2]float64{1: {0.4, 0.7}, 0.01: {0.95, 1}} {
		t.Run(fmt.Sprint(difficulty), func(t *testing.T) {
			train, test := generateT(t, Config{Difficulty: difficulty, TrainPerClass: 100, TestPerClass: 40})
			if acc := nearestMean(train, test, 12); acc < want[0] || acc > want[1] {
				t.Errorf("difficulty %g: accuracy %.3f; want %v", difficulty, acc, want)
			}
		})
	}
}

// nearestMean is the share of test images of the first classes that are nearest to the mean image
// of their own class.
func nearestMean(train, test Images, classes int) float64 {
	means, right, n := make([][pixels]float64, classes), 0, 0
	distance := func(i int, s Images, class int) (sum float64) {
		for k, p := range s.Pixels[i*pixels : (i+1)*pixels] {
			sum += (float64(p) - means[class][k]) * (float64(p) - means[class][k])
		}
		return sum
	}
	for i, l := range train.Labels {
		for k, p := range train.Pixels[i*pixels : (i+1)*pixels] {
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
