package datasets

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/parallelcl/parallelcl/internal/npz"
)

// TestLabelLeak: a second column that may have the classes is no input unless somebody says so.
func TestLabelLeak(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte("label,Y,a\n1,1,5\n2,1,5\n2,2,5\n1,2,5\n"))
	for query, want := range map[string]string{
		"":                          "label, Y may all have the classes",
		"?label=label&ignore=label": "cannot be left out",
		"?ignore=label,Y":           "no column label, class, target, y has the classes",
	} {
		if _, err := Open(context.Background(), "csv:"+path+query, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", query, err, want)
		}
	}
	for query, size := range map[string]string{"?label=label": "2", "?ignore=Y": "1", "?label=Y&ignore=label": "1"} {
		if d := mustOpen(t, "csv:"+path+query); d.Size() != size {
			t.Errorf("%s: vectors of %s numbers, want %s", query, d.Size(), size)
		}
	}
}

// TestLabelsAreCopied: a label does not keep its line in memory, and is there once.
func TestLabelsAreCopied(t *testing.T) {
	r, table := new(rawSplit), csvTable{header: []string{"label", "a"}, numbers: []int{1}, counts: [][]rowCounter{make([]rowCounter, 1)}, classes: map[string]string{}}
	line := "cat" + strings.Repeat("0", 100)
	for range 2 {
		line = strings.Clone(line)
		if err := table.row(r, []string{line[:3], line[3:4]}); err != nil {
			t.Fatal(err)
		}
	}
	if unsafe.StringData(r.labels[1]) == unsafe.StringData(line) || unsafe.StringData(r.labels[0]) != unsafe.StringData(r.labels[1]) {
		t.Error("a label lies in its line, or was copied twice")
	}
}

// TestWholeImages: images of whole numbers have no scale that is known, other than 0 and 1.
func TestWholeImages(t *testing.T) {
	labels := npz.Array{Shape: []int{4}, Data: []int32{0, 0, 1, 1}}
	pixels := npz.Array{Shape: []int{4, 1, 2}, Data: []int32{0, 255, 0, 1, 0, 1, 0, 1}}
	name := npzFile(t, map[string]npz.Array{"x": pixels, "y": labels})
	if _, err := Open(context.Background(), name, Options{}); err == nil || !strings.Contains(err.Error(), "divide by 255") {
		t.Error(err)
	}
	pixels.Data.([]int32)[1] = 1
	mustOpen(t, npzFile(t, map[string]npz.Array{"x": pixels, "y": labels}))
}

// TestTexts: names that are no texts are refused, in the list of classes and among the labels.
func TestTexts(t *testing.T) {
	if err := texts([]string{"a", "\xff"}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
	if _, err := labelTexts(npz.Array{Shape: []int{2}, Data: []string{"a", "\xff"}}); err == nil || !strings.Contains(err.Error(), "name 1") {
		t.Error(err)
	}
}
