package experiment

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// TestSideBySide: runs that are made at the same time are those of one after another, and an interrupt leaves them to be
// taken up.
func TestSideBySide(t *testing.T) {
	base, err := DefaultConfig(table(t, filepath.Join(t.TempDir(), "t.csv"), 0)).OnData(t.Context(), datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	configs, err := (&Session{name: base.Dataset}).checked(t.Context(), Vary(base, []string{"avggrad", "er"}, nil, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	models := func(ctx context.Context, w Where) (out [4]string, last error) {
		w.Machine = &Machine{Open: func(ctx context.Context) (*backend.Backend, error) {
			return backend.Open(ctx, backend.Options{Name: backend.Go})
		}}
		defer w.Machine.Close()
		for e, err := range Each(ctx, configs, w) {
			if last = err; err == nil {
				out[e.Index] = e.Run.ModelSHA256
			}
		}
		return out, last
	}
	want, err := models(t.Context(), Where{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	w := Where{Dir: t.TempDir(), Jobs: 3, Progress: func(_ int, p Progress) {
		if p.Step == 2 {
			interrupt()
		}
	}}
	if got, err := models(ctx, w); !errors.Is(err, ErrInterrupted) || got == want {
		t.Errorf("interrupted: %v, %v", got, err)
	}
	w.Progress = nil
	if got, err := models(t.Context(), w); err != nil || got != want {
		t.Errorf("side by side %v (%v), one after another %v", got, err, want)
	}
}
