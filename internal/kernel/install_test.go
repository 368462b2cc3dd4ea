//go:build unix

package kernel

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

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
		"go.mod":                        "module " + Module + "\n\ngo 1.26.5\n",
		"go.sum":                        "",
		"toy/toy.go":                    "package toy\n\nfunc Answer() int { return 42 }\n",
		"toy/toy_test.go":               "package toy\n",
		"toy/testdata/big.json":         "{}",
		"viz/report/report.go":          "package report\n",
		"viz/report/page.gohtml":        "<p>",
		"internal/seed/seed.go":         "package seed\n",
		"cmd/pcl/main.go":               "package main\n\nfunc main() {}\n",
		"internal/kernel/serve/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(\"serves\", os.Args[1]) }\n",
		"internal/kernel/host/host.go":  "package host\n\nfunc Main() {}\n",
		"tools/go.mod":                  "module " + Module + "/tools\n",
		"tools/tools.go":                "package tools\n",
		".git/config":                   "",
		"runs/one/result.json":          "{}",
		"notebooks/quickstart.go":       "package quickstart // another name than its folder's\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// machine is where a test installs.
func machine(t *testing.T) Options {
	t.Helper()
	offline(t)
	o := Options{Cache: filepath.Join(t.TempDir(), "the user's cache"), Data: t.TempDir(), Progress: new(strings.Builder)}
	var err error
	if o.Go, err = FindGo(); err != nil {
		t.Fatal(err)
	}
	return o
}

func install(t *testing.T, o Options, s Source) Kernel {
	t.Helper()
	k, err := Install(t.Context(), o, s)
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
		t.Errorf("%s says %q, %v", k.Start, out, err)
	}
}

// packages lists those of the module that cells of a kernel can import.
func packages(t *testing.T, k Kernel) (paths []string) {
	t.Helper()
	h, err := build.ReadHost(filepath.Join(filepath.Dir(k.Start), build.HostDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Packages {
		if strings.HasPrefix(p.Path, Module) && cell.Importable(p.Path) {
			paths = append(paths, strings.TrimPrefix(p.Path, Module))
		}
	}
	return paths
}

func TestInstallTwice(t *testing.T) {
	o, source := machine(t), module(t)
	first := install(t, o, Source{Dir: source, Version: "devel", Clone: true})
	if again := install(t, o, Source{Dir: source, Version: "devel", Clone: true}); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	if got := packages(t, first); !slices.Equal(got, []string{"/toy", "/viz/report"}) {
		t.Errorf("a cell can import %q", got)
	}
	starts(t, first)
	if !first.Clone || first.Source != source {
		t.Errorf("runs on %+v", first)
	}
}

func TestInstalledCopyOutlivesItsOrigin(t *testing.T) {
	o, source := machine(t), module(t)
	k := install(t, o, Source{Dir: source, Version: "v1.2.3"})
	if err := os.RemoveAll(source); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := filepath.WalkDir(k.Source, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(k.Source, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	})
	want := []string{"cmd/pcl/main.go", "go.mod", "go.sum", "internal/kernel/host/host.go", "internal/kernel/serve/main.go", "internal/seed/seed.go", "notebooks/quickstart.go",
		"toy/toy.go", "viz/report/page.gohtml", "viz/report/report.go"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("copied %q, %v; want %q", got, err, want)
	}
	starts(t, k)
	s, err := builtSource(t.Context(), o, "v1.2.3", source)
	if err != nil {
		t.Fatal(err)
	}
	if again := install(t, o, s); again != k {
		t.Errorf("%+v, then from its own copy %+v", k, again)
	}
}

// An installation that changes nothing leaves the files that cells are built with where they are.
func TestInstallLeavesEqualFiles(t *testing.T) {
	o, source := machine(t), module(t)
	k := install(t, o, Source{Dir: source, Version: "v1.2.3"})
	toy := filepath.Join(k.Source, "toy", "toy.go")
	before := lstat(t, toy)
	install(t, o, Source{Dir: source, Version: "v1.2.3"})
	if !os.SameFile(before, lstat(t, toy)) {
		t.Errorf("%s was made anew", toy)
	}
	write(t, filepath.Join(source, "toy", "toy.go"), "package toy\n\nfunc Answer() int { return 6 * 7 }\n")
	install(t, o, Source{Dir: source, Version: "v1.2.3"})
	if got := readFile(t, toy); !strings.Contains(got, "6 * 7") {
		t.Errorf("after a change of the module its copy has\n%s", got)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(k.Start), "*.*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != build.SettingsFile {
		t.Errorf("left: %q, %v", left, err)
	}
}

func lstat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestVersionThatIsNoName(t *testing.T) {
	o := machine(t)
	write(t, filepath.Join(o.Cache, "before"), "")
	before := files(t, o.Cache)
	for _, version := range []string{"..", "../x", ""} {
		if _, err := Install(t.Context(), o, Source{Dir: module(t), Version: version, Clone: true}); err == nil {
			t.Errorf("%q: %v", version, err)
		}
	}
	if got := files(t, o.Cache); !slices.Equal(got, before) {
		t.Errorf("the cache has %q", got)
	}
}

// What a program says last is shown without what it would do to a terminal.
func TestOutputIsPrintable(t *testing.T) {
	_, err := run(t.Context(), "", os.Environ(), "/bin/sh", "-c", `printf 'bad\033[2J\nworse\n'; exit 3`)
	if err == nil {
		t.Errorf("error %q", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "jupyter-lab")
	write(t, path, "#!/bin/sh\nprintf '4.1\\033[2J\\n'\n")
	if v, err := labVersion(t.Context(), path); err != nil || v != `4.1\x1b[2J` {
		t.Errorf("version %q, %v", v, err)
	}
}

// The files of a kernel are as readable as the umask lets them be, and its programs run.
func TestProgramsFollowTheUmask(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	o := machine(t)
	k := install(t, o, Source{Dir: module(t), Version: "devel", Clone: true})
	info, err := os.Stat(k.Start)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestBrokenModule(t *testing.T) {
	o, source := machine(t), module(t)
	write(t, filepath.Join(source, "toy", "toy.go"), "package toy\n\nvar x int = \"\"\n")
	_, err := Install(t.Context(), o, Source{Dir: source, Version: "devel", Clone: true})
	if err == nil {
		t.Errorf("installed: %v", err)
	}
	if list, _ := List(o.Data); len(list) != 0 {
		t.Errorf("registered: %v", list)
	}
}

func TestInterrupted(t *testing.T) {
	o := machine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Install(ctx, o, Source{Dir: module(t), Version: "devel", Clone: true}); err == nil || ctx.Err() == nil {
		t.Error("installed all the same")
	}
	install(t, o, Source{Dir: module(t), Version: "devel", Clone: true})
}

func TestFindSource(t *testing.T) {
	offline(t)
	source := module(t)
	find := func(named, dir string) (Source, error) { return FindSource(t.Context(), Options{}, named, dir) }
	want := Source{Dir: source, Version: cloneVersion(source), Clone: true}
	if s, err := find("", filepath.Join(source, "viz", "report")); err != nil || s != want {
		t.Errorf("inside a clone: %+v, %v", s, err)
	}
	if s, err := find(source, t.TempDir()); err != nil || s != want {
		t.Errorf("a named clone: %+v, %v", s, err)
	}
	if _, err := find(filepath.Join(source, "tools"), source); err == nil {
		t.Errorf("a folder that is none: %v", err)
	}
	// Anywhere else it is what the program was built from: here, this very module.
	s, err := find("", t.TempDir())
	if err != nil || s.Clone || !isModule(s.Dir) || s.Version == "" || s.Version != versionName(s.Version) {
		t.Errorf("elsewhere: %+v, %v", s, err)
	}
}

// A program of another module calls cli.Main: the kernel's version is that of our module in it.
func TestBuiltVersion(t *testing.T) {
	ours := func(version string, by *debug.Module) *debug.Module {
		return &debug.Module{Path: Module, Version: version, Replace: by}
	}
	theirs := debug.Module{Path: "example.org/theirs", Version: "v9.0.0"}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: *ours("v1.2.3", nil)}, "v1.2.3"},
		{debug.BuildInfo{Main: *ours("", nil)}, "(devel)"},
		{debug.BuildInfo{Main: theirs, Deps: []*debug.Module{{Path: "a.org/b", Version: "v2.0.0"}, ours("v1.2.3", nil)}}, "v1.2.3"},
		{debug.BuildInfo{Main: theirs, Deps: []*debug.Module{ours("v1.2.3", &debug.Module{Path: "/clone"})}}, "(devel)"},
		{debug.BuildInfo{Main: theirs, Deps: []*debug.Module{ours("v1.2.3", &debug.Module{Path: "a.org/fork", Version: "v1.3.0"})}}, "(devel)"},
	} {
		if got := builtVersion(&c.info); got != c.want {
			t.Errorf("%+v: version %s, want %s", c.info, got, c.want)
		}
	}
}

func TestPublished(t *testing.T) {
	o := machine(t)
	if _, err := published(t.Context(), o, "(devel)"); err == nil {
		t.Errorf("a version that nobody published: %v", err)
	}
	if _, err := published(t.Context(), o, "v0.0.0-20260102030405-0123456789ab"); err == nil {
		t.Errorf("offline: %v", err)
	}
}

func TestVersionName(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1.2.3", "(devel)": "devel", "v0.0.0-2026-abc+dirty": "v0.0.0-2026-abc-dirty"} {
		if got := versionName(version); got != want {
			t.Errorf("%s becomes %s, want %s", version, got, want)
		}
	}
}

func TestPins(t *testing.T) {
	for line := range strings.Lines(string(requirements)) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), "=="); !ok || name == "" || version == "" {
			t.Errorf("not pinned: %s", line)
		}
	}
	for _, name := range []string{"jupyterlab", "nbconvert", "ipykernel"} {
		if !strings.Contains("\n"+string(requirements), "\n"+name+"==") {
			t.Errorf("%s is not pinned", name)
		}
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
	if lab, ok := FindLab(t.Context(), cache, false); ok {
		t.Errorf("found %+v", lab)
	}
	private := fakeLab(t, filepath.Join(labDir(cache), "bin"), "4.6.6")
	if lab, ok := FindLab(t.Context(), cache, false); ok {
		t.Errorf("found %+v, which is not complete", lab)
	}
	write(t, filepath.Join(labDir(cache), labComplete), "")
	for _, c := range []struct {
		own     string
		private bool
		want    Lab
	}{
		{"3.6.7", false, Lab{private, "4.6.6", true}},
		{"4.1.0", false, Lab{filepath.Join(own, "jupyter-lab"), "4.1.0", false}},
		{"4.1.0", true, Lab{private, "4.6.6", true}},
	} {
		fakeLab(t, own, c.own)
		if lab, ok := FindLab(t.Context(), cache, c.private); !ok || lab != c.want {
			t.Errorf("%s, private %t: %+v, %t; want %+v", c.own, c.private, lab, ok, c.want)
		}
	}
}

func TestDoctor(t *testing.T) {
	o := machine(t)
	k := install(t, o, Source{Dir: module(t), Version: "devel", Clone: true})
	write(t, filepath.Join(labDir(o.Cache), labComplete), "")
	fakeLab(t, filepath.Join(labDir(o.Cache), "bin"), "4.6.6")
	for _, c := range Doctor(t.Context(), o) {
		if !c.OK && c.Name != "C compiler" || c.Detail == "" || c.OK == (c.Mend != "") {
			t.Errorf("all is there, but %+v", c)
		}
	}
	if err := os.RemoveAll(filepath.Dir(k.Start)); err != nil {
		t.Fatal(err)
	}
	if c := k.check(); c.OK || !strings.Contains(c.Detail, "gone") || !strings.Contains(c.Mend, "pcl kernel install") {
		t.Errorf("its files are gone, but %+v", c)
	}
	t.Setenv("PATH", t.TempDir())
	for _, c := range Doctor(t.Context(), Options{Cache: t.TempDir(), Data: t.TempDir()}) {
		if c.Name != "Linker" && (c.OK || c.Mend == "") || c.Detail == "" {
			t.Errorf("nothing is there, but %+v", c)
		}
	}
}
