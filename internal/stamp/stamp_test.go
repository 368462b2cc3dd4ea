package stamp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestCheck(t *testing.T) {
	old := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		change        func(file string) error
		quick, surely error // nil: it is whole
		renewed       bool
	}{
		"unchanged": {change: func(string) error { return nil }},
		"another time": {change: func(file string) error {
			return os.Chtimes(file, time.Time{}, old.Add(1))
		}, renewed: true},
		"cut": {change: func(file string) error {
			return os.Truncate(file, 3)
		}, quick: ErrDamaged, surely: ErrDamaged},
		"other bytes": {change: func(file string) error {
			return os.WriteFile(file, []byte("contenT"), 0o600)
		}, quick: ErrDamaged, surely: ErrDamaged},
		"gone":          {change: os.Remove, quick: fs.ErrNotExist, surely: fs.ErrNotExist},
		"a flipped bit": {change: flip(old), surely: ErrDamaged}, // of the same size and time
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a", "file")
			must.Do(t, os.Mkdir(filepath.Dir(file), 0o700))
			must.Do(t, os.WriteFile(file, []byte("content"), 0o600))
			must.Do(t, os.Chtimes(file, time.Time{}, old))
			files := must.Get(In(t.Context(), dir))(t)
			must.Do(t, c.change(file))
			renewed, quick := files.Check(t.Context(), dir, false)
			again, _ := files.Check(t.Context(), dir, false)
			_, surely := files.Check(t.Context(), dir, true)
			if len(files) != 1 || renewed != c.renewed || again || !errors.Is(quick, c.quick) || !errors.Is(surely, c.surely) {
				t.Errorf("%v: renewed %t, then %t; %v, %v; want %v", files, renewed, again, quick, surely, c)
			}
		})
	}
}

func flip(at time.Time) func(string) error {
	return func(file string) error {
		return errors.Join(os.WriteFile(file, []byte("contenT"), 0o600), os.Chtimes(file, time.Time{}, at))
	}
}
