package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// TestFlagsThatDoNothing: a flag that would do nothing, or that names nothing, is a usage error.
func TestFlagsThatDoNothing(t *testing.T) {
	dir := t.TempDir()
	runs := t.TempDir()
	for _, args := range [][]string{
		{"report", "table1", "--out", filepath.Join(dir, "x.pdf")},
		{"run", "--edit-max-drift", "0.02"},
		{"run", "--edit-mode", "batch"},
		{"run", "--method", ""},
		{"run", "--seed", ""},
		{"run", "--increment", ""},
		{"run", "--dataset", ""},
		{"demo", "--seed", ""},
		{"deploy", "slurm", "any", "--shards", "2", "--pcl", ""},
		{"deploy", "slurm", "any", "--shards", "2", "--data-dir", ""},
		{"grid", "status", "table1", "--dir", ""},
		{"export", "csv", "-o", ""},
		{"report", runs, "-o", ""},
		{"weigh", "--method", "mgda", "--state", "-"},
		{"report", "--all", dir, "-o", "-"},
		{"demo", "--runs", "-"},
		{"data", "preview", "glyphs", "--per-class", "0", "--out", filepath.Join(dir, "x.png")},
		{"data", "preview", "glyphs", "--out", filepath.Join(dir, "x.jpg")},
	} {
		var stdout, stderr bytes.Buffer
		rc := &runContext{ctx: t.Context(), stdout: &stdout, stderr: &stderr}
		if code := execute(rc, args); code != exitUsage || !strings.Contains(stderr.String(), "--") {
			t.Errorf("%v: exit code %d, %q", args, code, &stderr)
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
	known := slices.DeleteFunc(k.Flags(), func(f *kong.Flag) bool { return f.Hidden }) // without those of earlier versions
	if len(all) != len(known) {
		t.Errorf("--help-all shows %d flags of %d", len(all), len(known))
	}
}
