package tensorboard

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSave writes a run twice, and then another one to the same folder: there is one event file in
// it.
func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b]")
	r, records := sample()
	r.Dataset, r.Method = "folder:/a*b?", "..."
	for range 2 {
		if err := Save(dir, r, records); err != nil {
			t.Fatal(err)
		}
	}
	other := *r
	other.Measured.Started = r.Measured.Started.Add(time.Hour)
	if err := Save(dir, &other, nil); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "folder__a_b_", folder(r.Increment), "_",
		"label set 0, timeline 0, seed 0, "+folder(r.ID)))
	switch {
	case err != nil:
		t.Error(err)
	case len(files) != 1:
		t.Errorf("len(files) is %d; want 1", len(files))
	case files[0].Name() != fileName(&other):
		t.Errorf("%v (%v)", files, err)
	}
}
