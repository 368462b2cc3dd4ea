package rehearsal

import (
	"fmt"
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestGDumbRate(t *testing.T) {
	r := must.Get(New(&Retrain{}))(t)
	m := r.Predict.(retrained)
	middle := (.05 + .0005) / 2
	for pass, want := range map[int]float64{0: .005, 1: .05, 2: .05, 3: middle, 4: .05, 6: middle, 8: .05, 12: middle,
		128: .05, 192: middle, 255: .0005 + .0495*(1+math.Cos(math.Pi*127/128))/2} {
		t.Run(fmt.Sprint(pass), func(t *testing.T) {
			if got := m.rate(pass); math.Abs(got-want) > 1e-15 {
				t.Errorf("pass %d: rate %g, want %g", pass, got, want)
			}
		})
	}
}

// TestGDumbTrains: each pass goes over the whole store, in batches of at most half of the ctx's, of
// which some are mixed.
func TestGDumbTrains(t *testing.T) {
	for _, batch := range []int{1, 3, 8, 40} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			l := interfered(t)
			l.batch = batch
			r := must.Get(New(&Retrain{Passes: 16}))(t)
			must.Do(t, r.Predict.Prepare(l))
			samples, mixed, size := 0, 0, max(1, min(16, batch/2))
			for _, n := range l.trained {
				if n < 0 { // a mixed sample is two
					mixed, n = mixed+1, -n/2
				}
				if samples += n; n > size {
					t.Fatalf("batch size %d: a step on %d samples", batch, n)
				}
			}
			if l.total != len(l.trained) {
				t.Errorf("batch size %d: %d steps were told, %d made", batch, l.total, len(l.trained))
			}
			if samples != 16*60 || batch > 3 && (mixed < len(l.trained)/4 || mixed > 3*len(l.trained)/4) {
				t.Errorf("batch size %d: %d samples in %d steps, %d of them mixed; want 16 passes over 60", batch, samples,
					len(l.trained), mixed)
			}
		})
	}
}
