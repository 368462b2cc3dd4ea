package findings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

func text(t *testing.T, all []*rows.Row, notes map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	if err := found(t, all).Markdown(&out, "`grids/results`", notes); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMarkdown looks for what a reader of a reproduction needs.
func TestMarkdown(t *testing.T) {
	g := table(invented.Methods([]string{"EMGD(GMC)", "EMGD(GS)", "AvgGrad"}, 53, 2), 3)
	tuned := g
	tuned.Name += "-tuned"
	all := append(g.Rows(), tuned.Rows()...)
	all[80].State, all[80].Reason = rows.Failed, "no | room"
	got := text(t, all, map[string]string{"Table 3": "It takes a GPU."})
	for _, want := range []string{
		"| 1 | EMGD reaches a higher A than averaging the gradients, on all data sets and in both increments. | **holds** | Holds in 4 of 4 comparisons tested (differences +2.04 to +3.99); 10 more cannot be tested. |",
		"| `table2-test-split` | Class-incremental | PS-EMNIST (test split) (the paper has PS-EMNIST) | 80 of 81 | 0.1 |",
		"* Table 2: There are no results on PS-CIFAR-100, class-incremental; PS-ImageNet-TINY, class-incremental.",
		"It takes a GPU.", "from `grids/results`;",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// TestMarkdownOfNames: names are shown as they are, whatever they mean in Markdown or HTML.
func TestMarkdownOfNames(t *testing.T) {
	g := table(invented.Methods([]string{"<b>$x$", "*a* `b` [c]"}, 53, 2), 3)
	g.Title = "<script>"
	got := text(t, g.Rows(), nil)
	for _, want := range []string{"| &lt;script> |"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

// TestReproduction compares the text in the repository with what its results make.
func TestReproduction(t *testing.T) {
	const root = "../../.."
	dir := filepath.Join(root, "grids", "results")
	committed, err := os.ReadFile(filepath.Join(root, "REPRODUCTION.md"))
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if (len(files) == 0) != none {
		t.Fatalf("there are %d files of results, and a REPRODUCTION.md: %v", len(files), !none)
	}
	if none {
		return
	}
	all, err := rows.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	published, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range published.Grids {
		n += len(g.Rows)
	}
	if n != len(all) {
		t.Errorf("%d results are published, and the folder has %d", n, len(all))
	}
	notes, err := ReadNotes(dir)
	if err != nil {
		t.Fatal(err)
	}
	if text(t, all, notes) != string(committed) {
		t.Error("REPRODUCTION.md is not what the results make: pcl report grids/results --markdown -o REPRODUCTION.md")
	}
}

func TestReadNotes(t *testing.T) {
	dir := t.TempDir()
	if notes, err := ReadNotes(dir); len(notes) > 0 || err != nil {
		t.Errorf("a folder without notes has %v (%v)", notes, err)
	}
	for file, want := range map[string]string{"\"Table 3\" = \"It takes a GPU.\"\n": "", "\"Table 9\" = \"x\"\n": "Table 9", "Table = [": "notes.toml"} {
		if err := os.WriteFile(filepath.Join(dir, notesFile), []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
		notes, err := ReadNotes(dir)
		switch {
		case want == "" && (err != nil || notes["Table 3"] != "It takes a GPU."):
			t.Errorf("%v (%v)", notes, err)
		case want != "" && err == nil:
			t.Errorf("%s is read; want an error about %s", file, want)
		}
	}
}
