package main

import (
	"slices"
	"testing"
)

func TestNotebookArguments(t *testing.T) {
	for _, c := range []struct {
		command notebookCmd
		uid     int
		want    []string
	}{
		{notebookCmd{Path: "a.ipynb"}, 1000, []string{"-y", "--log-level=WARN", "a.ipynb"}},
		{notebookCmd{Path: "a.ipynb"}, 0, []string{"-y", "--log-level=WARN", "--allow-root", "a.ipynb"}},
		{notebookCmd{NoBrowser: true, Jupyter: []string{"--allow-root"}}, 0, []string{"-y", "--log-level=WARN", "--no-browser", "--allow-root"}},
	} {
		if got := c.command.args(c.uid); !slices.Equal(got, c.want) {
			t.Errorf("%+v as %d: %q, want %q", c.command, c.uid, got, c.want)
		}
	}
}
