//go:build unix

package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// offline forbids the go command to download.
func offline(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOTOOLCHAIN", "local")
}

// module writes a small module of our name: what a cell can import, and what it cannot.
func module(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's a clone")
	for name, text := range map[string]string{
		"go.mod":                        "module " + modulePath + "\n\ngo 1.26.5\n",
		"go.sum":                        "",
		"toy/toy.go":                    "package toy\n\nfunc Answer() int { return 42 }\n",
		"toy/toy_test.go":               "package toy\n",
		"toy/testdata/big.json":         "{}",
		"viz/chart/report.go":           "package chart\n",
		"viz/chart/page.gohtml":         "<p>",
		"internal/seed/seed.go":         "package seed\n",
		"cmd/pcl/main.go":               "package main\n\nfunc main() {}\n",
		"internal/kernel/serve/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(\"serves\", os.Args[1]) }\n",
		"internal/kernelhost/host.go": "package kernelhost\n\nimport _ \"" + modulePath +
			"/internal/kernel/rt\"\n\nfunc Main(func(file, name string) (any, error)) {}\n",
		"internal/kernelhost/main/main_amd64.s": "TEXT ·addmoduledata(SB),4,$0-0\n\tJMP runtime·addmoduledata(SB)\n",
		"internal/kernel/rt/rt.go":              "package rt\n\nfunc Enter(id int, origin string, pointers map[string]any) {}\n\nfunc Types(map[string]any) {}\n\nfunc Offer(name string, replay, run func()) {}\n\nfunc Offered(name string) (replay, run func()) { return nil, nil }\n",
		"tools/go.mod":                          "module " + modulePath + "/tools\n",
		"tools/tools.go":                        "package tools\n",
		".git/config":                           "",
		"runs/one/result.json":                  "{}",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// machine is where a test installs.
func machine(t *testing.T) Options {
	t.Helper()
	offline(t)
	return Options{Cache: filepath.Join(t.TempDir(), "the user's cache"), Data: t.TempDir(), Note: t.Logf}
}

func install(t *testing.T, o Options, source string) Kernel {
	t.Helper()
	k, err := Install(t.Context(), o, source)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// starts runs the program of a kernel as Jupyter does.
func starts(t *testing.T, k Kernel) {
	t.Helper()
	out, err := exec.Command(k.Start, "/run/kernel 1.json").CombinedOutput()
	if err != nil || string(out) != "serves /run/kernel 1.json\n" {
		t.Errorf("%s says %q, %v", k.Start, out, expect.Text(err))
	}
}

// packages lists those of the module that cells of a kernel can import.
func packages(t *testing.T, k Kernel) (paths []string) {
	t.Helper()
	h, err := build.Read(filepath.Dir(k.Start))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Packages {
		if strings.HasPrefix(p.Path, modulePath) && cell.Importable(p.Path) {
			paths = append(paths, strings.TrimPrefix(p.Path, modulePath))
		}
	}
	return paths
}

func TestInstall(t *testing.T) {
	o, source := machine(t), module(t)
	_, err := Read(o)
	expect.Refusal(t, "before", err, os.ErrNotExist)
	k := install(t, o, source)
	switch again := install(t, o, source); {
	case again != k:
		t.Errorf("again is %+v; want %+v", again, k)
	case k.Source != source:
		t.Errorf("k.Source is %q; want %q", k.Source, source)
	case k.Version != "devel":
		t.Errorf("k.Version is %q; want %q", k.Version, "devel")
	}
	switch read, err := Read(o); {
	case err != nil:
		t.Error(err)
	case read != k:
		t.Errorf("read is %+v; want %+v", read, k)
	}
	if got := packages(t, k); !slices.Equal(got, []string{"/toy", "/viz/chart"}) {
		t.Errorf("a cell can import %q", got)
	}
	starts(t, k)
	var spec map[string]any
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(o.Data, "kernels", "parallelcl", "kernel.json"))),
		&spec); err != nil {
		t.Fatal(err)
	}
	argv, _ := json.Marshal(spec["argv"])
	if want, _ := json.Marshal([]string{k.Start, "{connection_file}"}); string(argv) != string(want) ||
		spec["display_name"] != "ParallelCL (Go)" || spec["language"] != "go" || spec["interrupt_mode"] != "message" {
		t.Errorf("kernel.json: %v", spec)
	}
	if !strings.Contains(readFile(t, filepath.Join(o.spec(), "logo-svg.svg")), "<svg") {
		t.Error("no logo")
	}

	// That of another folder, here of Go's cache, takes its place. A notebook that runs on the
	// first may go on.
	released := filepath.Join(t.TempDir(), "parallelcl@v1.2.3")
	if err := os.CopyFS(released, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	other := install(t, o, released)
	switch read, err := Read(o); {
	case err != nil:
		t.Error(err)
	case read != other:
		t.Errorf("read is %+v; want %+v", read, other)
	case other.Version != "v1.2.3":
		t.Errorf("other.Version is %q; want %q", other.Version, "v1.2.3")
	}
	starts(t, other)
	starts(t, k)
}

func TestRemove(t *testing.T) {
	o := machine(t)
	python := filepath.Join(o.Data, "kernels", "python3", "kernel.json")
	write(t, python, `{"argv":["python"],"display_name":"Python 3","language":"python"}`)
	install(t, o, module(t))
	for range 2 { // the second time there is nothing
		if err := Remove(o); err != nil {
			t.Error(err)
		}
		_, err := os.Stat(o.Cache)
		if entries, _ := os.ReadDir(filepath.Dir(filepath.Dir(python))); len(entries) != 1 || err == nil {
			t.Errorf("left are %v; the cache: %v", entries, expect.Text(err))
		}
	}
}

func TestForeignKernelIsLeftAlone(t *testing.T) {
	o := machine(t)
	foreign, cached := filepath.Join(o.Data, "kernels", Name, "kernel.json"), filepath.Join(o.Cache, "file")
	write(t, cached, "kept")
	for _, text := range []string{`{"argv":["other"]}`, `{`, `{"metadata":{"parallelcl":7}}`} {
		t.Run(text, func(t *testing.T) {
			write(t, foreign, text)
			_, read := Read(o)
			_, installed := Install(t.Context(), o, module(t))
			for _, err := range []error{read, installed, Remove(o)} {
				if err == nil || errors.Is(err, os.ErrNotExist) {
					t.Error(expect.Text(err))
				}
			}
			if readFile(t, foreign) != text || readFile(t, cached) != "kept" {
				t.Errorf("%s was changed", text)
			}
		})
	}
}

func TestDataDir(t *testing.T) {
	t.Setenv("JUPYTER_DATA_DIR", "/jupyter")
	if dir, err := DataDir(); err != nil || dir != "/jupyter" {
		t.Errorf("%s, %v", dir, expect.Text(err))
	}
	t.Setenv("JUPYTER_DATA_DIR", "")
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "/home/me")
	dir, err := DataDir()
	if err != nil || !slices.Contains([]string{"/home/me/.local/share/jupyter", "/home/me/Library/Jupyter"}, dir) {
		t.Errorf("%s, %v", dir, expect.Text(err))
	}
}

func TestQuickstart(t *testing.T) {
	source := filepath.Join(t.TempDir(), "a[1]") // no pattern
	t.Chdir(t.TempDir())
	write(t, filepath.Join(source, "notebooks", "00-quickstart.ipynb"), "zero")
	if path, err := Quickstart(Kernel{Source: source, Version: "devel"}); path != filepath.Join(source, "notebooks",
		"00-quickstart.ipynb") || err != nil {
		t.Errorf("a clone: %q, %v", path, expect.Text(err))
	}
	for range 2 { // what the user has changed stays
		path, err := Quickstart(Kernel{Source: source, Version: "v1.0.0"})
		if err != nil || readFile(t, path) != "zero" {
			t.Errorf("a copy: %q, %v", path, expect.Text(err))
		}
		write(t, filepath.Join(filepath.Dir(path), "00-quickstart.ipynb"), "zero")
		write(t, filepath.Join(source, "notebooks", "00-quickstart.ipynb"), "new")
	}
	if path, err := Quickstart(Kernel{Source: source, Version: "v1.1.0"}); err != nil || readFile(t, path) != "new" {
		t.Errorf("another version: %q, %v", path, expect.Text(err))
	}
}

// TestOutputIsPrintable: control characters in a program's output are escaped.
func TestOutputIsPrintable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jupyter-lab")
	write(t, path, "#!/bin/sh\nprintf '4.1\\033[2J\\n'\n")
	switch lab, err := labAt(t.Context(), path); {
	case err != nil:
		t.Error(err)
	case lab.Version != `4.1\x1b[2J`:
		t.Errorf("lab.Version is %q; want %q", lab.Version, `4.1\x1b[2J`)
	}
}

func TestBrokenModule(t *testing.T) {
	o, source := machine(t), module(t)
	write(t, filepath.Join(source, "toy", "toy.go"), "package toy\n\nvar x int = \"\"\n")
	_, err := Install(t.Context(), o, source)
	if _, none := Read(o); err == nil || !errors.Is(none, os.ErrNotExist) {
		t.Errorf("installed: %v, %v", expect.Text(err), expect.Text(none))
	}
}

func TestInterrupted(t *testing.T) {
	o := machine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Install(ctx, o, module(t))
	expect.Refusal(t, "installed all the same", err, context.Canceled)
	install(t, o, module(t))
}

func TestFindSource(t *testing.T) {
	offline(t)
	source := module(t)
	for _, test := range []struct{ named, dir, want string }{
		{"", filepath.Join(source, "viz", "chart"), source},
		{source, t.TempDir(), source},
		{filepath.Join(source, "tools"), source, ""}, // is none
		{"", t.TempDir(), "../.."},                   // what the program was built from: here, this very module
	} {
		want := test.want
		if strings.HasPrefix(want, "..") {
			want, _ = filepath.Abs(want)
		}
		t.Run("", func(t *testing.T) {
			t.Chdir(test.dir)
			if got, err := FindSource(t.Context(), test.named); got != want || (err != nil) != (want == "") {
				t.Errorf("%q in %s: %q, %v; want %q", test.named, test.dir, got, expect.Text(err), want)
			}
		})
	}
	if dir, err := published(t.Context()); err == nil {
		t.Errorf("a version that nobody published: %s", dir)
	}
}

// fakeLab writes a jupyter-lab that says a version.
func fakeLab(t *testing.T, dir, version string) string {
	t.Helper()
	path := filepath.Join(dir, "jupyter-lab")
	write(t, path, fmt.Sprintf("#!/bin/sh\necho %s\n", version))
	return path
}

func TestFindLab(t *testing.T) {
	own, cache := t.TempDir(), t.TempDir()
	t.Setenv("PATH", own)
	private := fakeLab(t, filepath.Join(labDir(cache), "bin"), "4.6.6")
	if lab, err := findLab(t.Context(), cache, false); err == nil {
		t.Errorf("found %+v, which is not complete", lab)
	}
	write(t, filepath.Join(labDir(cache), labSettingsFile), "")
	for _, c := range []struct {
		own     string
		private bool
		want    Lab
	}{
		{"3.6.7", false, Lab{private, "4.6.6"}},
		{"4.1.0", false, Lab{filepath.Join(own, "jupyter-lab"), "4.1.0"}},
		{"4.1.0", true, Lab{private, "4.6.6"}},
	} {
		t.Run(c.own, func(t *testing.T) {
			fakeLab(t, own, c.own)
			switch lab, err := findLab(t.Context(), cache, c.private); {
			case err != nil:
				t.Errorf("%s, private %t: %v", c.own, c.private, err)
			case lab != c.want:
				t.Errorf("%s, private %t: lab is %+v; want %+v", c.own, c.private, lab, c.want)
			}
		})
	}
}

func TestDoctor(t *testing.T) {
	o := machine(t)
	k := install(t, o, module(t))
	write(t, filepath.Join(labDir(o.Cache), labSettingsFile), "")
	fakeLab(t, filepath.Join(labDir(o.Cache), "bin"), "4.6.6")
	for _, c := range Doctor(t.Context(), o) {
		switch {
		case c.Mend != "":
			t.Errorf("c.Mend is %q; want %q", c.Mend, "")
		case c.Detail == "":
			t.Error("c.Detail is empty")
		}
	}
	before := Doctor(t.Context(), o)[1]
	t.Setenv("CGO_ENABLED", "0")
	switch c := Doctor(t.Context(), o)[1]; {
	case !strings.HasPrefix(c.Detail, before.Detail):
		t.Errorf("c.Detail is %q; want %q at its beginning", c.Detail, before.Detail)
	case strings.HasPrefix(c.Detail, "plugins") != (c.Mend == "pcl kernel install"):
		t.Errorf("installed with %+v, but %+v", before, c)
	}
	install(t, o, k.Source)
	switch c := Doctor(t.Context(), o)[1]; {
	case !strings.Contains(c.Detail, "program of its own"):
		t.Errorf("c.Detail is %q; want %q in it", c.Detail, "program of its own")
	case c.Mend != "":
		t.Errorf("c.Mend is %q; want %q", c.Mend, "")
	}
	for _, gone := range []string{k.Start, filepath.Join(k.Source, "go.mod")} {
		t.Run(gone, func(t *testing.T) {
			if err := os.Rename(gone, gone+"x"); err != nil {
				t.Fatal(err)
			}
			switch c := Doctor(t.Context(), o)[3]; {
			case !strings.Contains(c.Detail, "gone"):
				t.Errorf("c.Detail is %q; want %q in it", c.Detail, "gone")
			case c.Mend != "pcl kernel install":
				t.Errorf("c.Mend is %q; want %q", c.Mend, "pcl kernel install")
			}
			if err := os.Rename(gone+"x", gone); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	for _, c := range Doctor(t.Context(), Options{Cache: t.TempDir(), Data: t.TempDir()}) {
		switch {
		case c.Name != "Cells" && c.Mend == "":
			t.Errorf("nothing is there, but %+v", c)
		case c.Detail == "":
			t.Error("c.Detail is empty")
		}
	}
}
