package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestToyPrintsStepsOnce: steps that fall together are one line.
func TestToyPrintsStepsOnce(t *testing.T) {
	for _, flags := range [][]string{{"--arrival", "0"}, {"--steps", "501"}} {
		var stdout, stderr bytes.Buffer
		rc := &runContext{ctx: t.Context(), stdout: &stdout, stderr: &stderr}
		if code := execute(rc, append([]string{"toy", "--method", "mgda"}, flags...)); code != 0 {
			t.Fatalf("%v: %s", flags, &stderr)
		}
		if n := strings.Count(stdout.String(), "\n"); n != 4 { // the head, two steps and the end
			t.Errorf("%v: %d lines\n%s", flags, n, &stdout)
		}
	}
}

// TestFlagsThatDoNothing: a flag that would do nothing, or that names nothing, is a usage error that names it.
func TestFlagsThatDoNothing(t *testing.T) {
	dir := t.TempDir()
	notebook := filepath.Join(dir, "a.ipynb")
	if err := os.WriteFile(notebook, []byte(`{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report", runs, "--execute"}, "--execute is for notebooks"},
		{[]string{"report", runs, "--no-execute"}, "--no-execute is for notebooks"},
		{[]string{"report", runs, "--private"}, "--private is for notebooks"},
		{[]string{"report", runs, "--module", dir}, "--module is for notebooks"},
		{[]string{"grid", "report", "table1", "--markdown", "--title", "a"}, "--title is for a page"},
		{[]string{"grid", "report", "table1", "--out", filepath.Join(dir, "x.pdf")}, "a page is HTML"},
		{[]string{"report", notebook, "--no-execute", "--private"}, "leave one out"},
		{[]string{"report", notebook, "--title", "a"}, "--title is for a report of runs or a site"},
		{[]string{"run", "--edit-max-drift", "0.02"}, "--edit-max-drift says how the memory is edited, which is turned off: add a step size, such as --edit 0.003"},
		{[]string{"run", "--edit-mode", "batch"}, "--edit-mode says how the memory is edited"},
		{[]string{"run", "--method", ""}, "--method is empty"},
		{[]string{"run", "--seed", ""}, "--seed is empty"},
		{[]string{"run", "--increment", ""}, "--increment is empty"},
		{[]string{"run", "--dataset", ""}, "--dataset is empty"},
		{[]string{"demo", "--seed", ""}, "--seed is empty"},
		{[]string{"deploy", "slurm", "any", "--shards", "2", "--pcl", ""}, "--pcl is empty"},
		{[]string{"deploy", "slurm", "any", "--shards", "2", "--data-dir", ""}, "--data-dir is empty"},
		{[]string{"grid", "status", "table1", "--dir", ""}, "--dir is empty"},
		{[]string{"export", "csv", "-o", ""}, "--out is empty"},
		{[]string{"report", runs, "-o", ""}, "--out is empty"},
		{[]string{"weights", "--method", "mgda", "--state", "-"}, "--state: a single - is not the standard input or output"},
		{[]string{"report", "--all", dir, "-o", "-"}, "--out: a single - is not"},
		{[]string{"demo", "--runs", "-"}, "--runs: a single - is not"},
		{[]string{"data", "preview", "glyphs", "--per-class", "0", "--out", filepath.Join(dir, "x.png")}, "--per-class: 0 is out of range"},
		{[]string{"bench", "step", "--width", "8"}, "add --model resnet18"},
		{[]string{"data", "preview", "cifar-10", "--seed", "2", "--out", filepath.Join(dir, "x.png")}, "--seed is for sets that are generated"},
		{[]string{"data", "preview", "glyphs", "--out", filepath.Join(dir, "x.jpg")}, "the ending .png"},
	} {
		var stdout, stderr bytes.Buffer
		rc := &runContext{ctx: t.Context(), stdout: &stdout, stderr: &stderr}
		if code := execute(rc, c.args); code != 2 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: exit code %d, %q; want %q", c.args, code, &stderr, c.want)
		}
	}
	if _, err := os.Lstat("-"); err == nil {
		t.Error("there is something of the name -")
	}
}

// TestHelp: the help of pcl run shows what is often needed, --help-all every flag, and shells complete all of them.
func TestHelp(t *testing.T) {
	flags := func(arg string) []string {
		t.Helper()
		cmd := exec.Command("pcl", "run", arg)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(?m)^  (?:-\w, |    )--([\w-]+)`).FindAllString(string(out), -1)
	}
	parser, err := kong.New(newCommands(), pathType, stdoutType)
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	short, all := flags("--help"), flags("--help-all")
	if len(short) > 30 || len(short) < 20 {
		t.Errorf("--help shows %d flags; want at most 30", len(short))
	}
	if len(all) != len(k.Flags()) {
		t.Errorf("--help-all shows %d flags of %d", len(all), len(k.Flags()))
	}
}
