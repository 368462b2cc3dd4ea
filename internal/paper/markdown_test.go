package paper

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

func text(t *testing.T, all []*rows.Row, dirs ...string) string {
	t.Helper()
	var out bytes.Buffer
	f, err := New(all, dirs...)
	if err == nil {
		err = f.Markdown(&out, "`grids/results`")
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// noted returns a folder with such notes.
func noted(t *testing.T, notes string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, notesFile), []byte(notes), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMarkdown looks for what a reader of a reproduction needs.
func TestMarkdown(t *testing.T) {
	g := table(invented.Methods([]string{"EMGD(GMC)", "EMGD(GS)", "AvgGrad"}, 53, 2), 3)
	tuned := g
	tuned.Name += "-tuned"
	all := append(g.Rows(), tuned.Rows()...)
	all[80].State, all[80].Reason = rows.Failed, "no | room"
	got := text(t, all, noted(t, `"Table 3" = "It takes a GPU."`), "no such folder")
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
	got := text(t, g.Rows())
	for _, want := range []string{"| &lt;script> |"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("the text lacks %q", want)
			}
		})
	}
}

// TestReproduction compares the text in the repository with what its results make.
func TestReproduction(t *testing.T) {
	const root = "../.."
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
	if text(t, all, dir) != string(committed) {
		t.Error("REPRODUCTION.md is not what the results make: pcl report grids/results --markdown -o REPRODUCTION.md")
	}
}

func TestNotesThatCannotBeRead(t *testing.T) {
	for _, notes := range []string{"\"Table 9\" = \"x\"\n", "Table = ["} {
		t.Run(notes, func(t *testing.T) {
			if _, err := New(nil, noted(t, notes)); err == nil {
				t.Errorf("%s is read", notes)
			}
		})
	}
}
