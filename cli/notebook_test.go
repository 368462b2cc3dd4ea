package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestNotebookArguments(t *testing.T) {
	there := filepath.Join(t.TempDir(), "a b.ipynb")
	must.Do(t, os.WriteFile(there, nil, 0o600))
	for _, c := range []struct {
		command notebookCmd
		uid     int
		want    []string
	}{
		{notebookCmd{Path: "a.ipynb"}, 1000, []string{"-y", "--log-level=WARN", "a.ipynb"}},
		{notebookCmd{Path: "a.ipynb"}, 0, []string{"-y", "--log-level=WARN", "--allow-root", "a.ipynb"}},
		{notebookCmd{NoBrowser: true, Jupyter: []string{"--allow-root"}}, 0,
			[]string{"-y", "--log-level=WARN", "--no-browser", "--allow-root"}},
		{notebookCmd{Path: there}, 1000,
			[]string{"-y", "--log-level=WARN", "--LabApp.default_url=/lab/tree/a%20b.ipynb", there}},
		{notebookCmd{Path: filepath.Dir(there)}, 1000, []string{"-y", "--log-level=WARN", filepath.Dir(there)}},
		{
			notebookCmd{Path: there, Jupyter: []string{"--notebook-dir=/"}}, 1000,
			[]string{"-y", "--log-level=WARN", "--notebook-dir=/", there},
		},
	} {
		if got := c.command.args(c.uid); !slices.Equal(got, c.want) {
			t.Errorf("%+v as %d: %q, want %q", c.command, c.uid, got, c.want)
		}
	}
}
