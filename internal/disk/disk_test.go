package disk

import (
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
	if err := Room(dir, math.MaxInt64); !Full(err) || !strings.Contains(err.Error(), dir) {
		t.Errorf("all there is: %v", err)
	}
}

func TestFull(t *testing.T) {
	for _, full := range fullErrors {
		if !Full(fmt.Errorf("write: %w", &fs.PathError{Op: "write", Path: "x", Err: full})) {
			t.Errorf("%v is not about a full disk", full)
		}
	}
	if Full(nil) || Full(fs.ErrNotExist) {
		t.Error("an error that is not about a full disk is taken for one")
	}
}
