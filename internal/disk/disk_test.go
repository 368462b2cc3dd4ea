package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	if _, ok := free(filepath.Dir(filepath.Dir(dir))); !ok {
		t.Skip("this system does not tell how much is free")
	}
	if err := Room(dir, 1); err != nil {
		t.Errorf("one byte: %v", err)
	}
	err := Room(dir, math.MaxInt64)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "are free") {
		t.Errorf("all there is: %v", err)
	}
}

func TestExplain(t *testing.T) {
	dir := t.TempDir()
	for _, full := range fullErrors {
		err := Explain(fmt.Errorf("write: %w", &fs.PathError{Op: "write", Path: "x", Err: full}), dir)
		if !errors.Is(err, ErrFull) || !errors.Is(err, full) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v", err)
		}
		if again := Explain(err, dir); again != err {
			t.Errorf("explained twice: %v", again)
		}
	}
	if Explain(nil, dir) != nil || Explain(fs.ErrNotExist, dir) != fs.ErrNotExist {
		t.Error("explained what is no full disk")
	}
}
