package rehearsal

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestGMEDEdits: an edit is α times the derivative of ℓ(θ′) − (1+β)ℓ(θ), shorter each time, and
// only what is replayed is edited.
func TestGMEDEdits(t *testing.T) {
	const alpha, beta, gamma, decay = 1e-2, 0.3, 2.0, 0.25
	l := interfered(t)
	m := filled(t, GMED{Alpha: new(alpha), Beta: new(beta), Gamma: new(gamma), Decay: decay})
	aged := 0
	for range 12 {
		old := l.store.Samples()
		must.Do(t, l.VirtualStep(gamma))
		before := l.store.Items(everyIndex(l.store))
		replayed := must.Get(m.draw(l))(t)
		for i, was := range before {
			was.Pixels = old[i].Pixels
			now := l.store.Item(i)
			if !slices.Contains(replayed, i) {
				if !slices.Equal(now.Pixels, was.Pixels) {
					t.Fatalf("sample %d was edited and not replayed", i)
				}
				continue
			}
			rate := alpha * math.Pow(1-decay, float64(was.Edits))
			for p, x := range was.Pixels {
				slope := l.slope(Virtual, was, p) - (1+beta)*l.slope(Current, was, p)
				if want := min(max(float64(x)+rate*slope, 0), 1); math.Abs(float64(now.Pixels[p])-want) > 1e-5 {
					t.Fatalf("sample %d, pixel %d after %d edits: %g, want %g", i, p, was.Edits, now.Pixels[p], want)
				}
			}
			if aged += was.Edits; now.Edits != was.Edits+1 {
				t.Errorf("sample %d has %d edits, had %d", i, now.Edits, was.Edits)
			}
		}
	}
	if aged == 0 {
		t.Error("no sample was edited twice")
	}
}

// TestGMEDReleaseEdits: the loss of the model before the extra update is lowered.
func TestGMEDReleaseEdits(t *testing.T) {
	l := interfered(t)
	old := l.store.Samples()
	replayed := must.Get(filled(t, GMEDRelease{}).draw(l))(t)
	if l.updates != 1 || len(replayed) != l.batch {
		t.Errorf("%d updates, %d samples", l.updates, len(replayed))
	}
	for _, i := range replayed {
		was := l.store.Item(i)
		was.Pixels = old[i].Pixels
		for p, x := range was.Pixels {
			want := min(max(float64(x)-.003*l.slope(Remembered, was, p), 0), 1)
			if got := float64(l.store.Item(i).Pixels[p]); math.Abs(got-want) > 1e-5 {
				t.Errorf("pixel %d of sample %d: %g, want %g", p, i, got, want)
			}
		}
	}
}
