package grid

import (
	"path/filepath"
	"testing"
)

// TestTensorBoardFolders: runs of methods whose names are the same folder's have a folder each all the same.
func TestTensorBoardFolders(t *testing.T) {
	p := expanded(t, parse(t, "named", `
		title = "Names"
		datasets = ["G"]
		methods = ["lr < 1", "lr > 1"]
		increments = ["task"]
		labelsets = [0]
		timelines = [0]
		seeds = [1, 2]
		[dataset.G]
		dataset = "glyphs"
		[method."lr < 1"]
		method = "avggrad"
		[method."lr > 1"]
		method = "mgda"
	`))
	dir := t.TempDir()
	n, err := filled(t, p, nil).TensorBoard(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "G", "task", "lr _ 1", "*", "events.out.tfevents.*"))
	if err != nil {
		t.Fatal(err)
	}
	if n != 4 || len(files) != 4 {
		t.Errorf("%d runs were written, and there are the files %q; want 4", n, files)
	}
}
