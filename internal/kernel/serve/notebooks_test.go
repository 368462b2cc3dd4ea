//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// TestNotebooksCompile: all cells of all notebooks compile, one after the other, with the names
// that the packages have now. Running them, which takes long, is left to .ci/notebooks.
func TestNotebooksCompile(t *testing.T) {
	begin(t) // which builds the host
	host, err := build.Read(hosts)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(module, "notebooks", "*.ipynb"))
	if len(files) == 0 {
		t.Fatal("there are no notebooks")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			var book struct {
				Cells []struct {
					Type   string `json:"cell_type"`
					Source []string
				}
			}
			if err == nil {
				err = json.Unmarshal(data, &book)
			}
			if err != nil {
				t.Fatal(err)
			}
			cells := host.Cells(t.TempDir())
			for i, c := range book.Cells {
				if c.Type != "code" {
					continue
				}
				one, err := cells.Compile(t.Context(), cell.Read(fmt.Sprintf("cell %d", i), strings.Join(c.Source, "")))
				if err != nil {
					t.Fatal(err)
				}
				cells.Commit(one)
			}
		})
	}
}
