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
	"sync"
	"syscall"
	"testing"
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
		"go.mod":                  "module " + Module + "\n\ngo 1.26.5\n",
		"go.sum":                  "",
		"toy/toy.go":              "package toy\n\nfunc Answer() int { return 42 }\n",
		"toy/toy_test.go":         "package toy\n",
		"toy/testdata/big.json":   "{}",
		"viz/report/report.go":    "package report\n",
		"viz/report/page.gohtml":  "<p>",
		"internal/seed/seed.go":   "package seed\n",
		"cmd/pcl/main.go":         "package main\n\nfunc main() {}\n",
		"tools/go.mod":            "module " + Module + "/tools\n",
		"tools/tools.go":          "package tools\n",
		".git/config":             "",
		"runs/one/result.json":    "{}",
		"notebooks/quickstart.go": "package quickstart // another name than its folder's\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// shims is the folder of the shim that all tests share.
var shims struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(shims.dir)
	os.Exit(code)
}

// builtShim builds the shim as an installation does.
func builtShim(t *testing.T) string {
	t.Helper()
	shims.once.Do(func() {
		var o Options
		if o.Go, shims.err = FindGo(); shims.err != nil {
			return
		}
		if shims.dir, shims.err = os.MkdirTemp("", "shim"); shims.err == nil {
			shims.err = buildShim(context.Background(), o, filepath.Join(shims.dir, "source"), shims.dir)
		}
	})
	if shims.err != nil {
		t.Fatal(shims.err)
	}
	return filepath.Join(shims.dir, shimName)
}

// machine is where a test installs: the tools are there, and say what they are called with.
func machine(t *testing.T) Options {
	t.Helper()
	offline(t)
	o := Options{Cache: filepath.Join(t.TempDir(), "the user's cache"), Data: t.TempDir(), Progress: new(strings.Builder)}
	shim := builtShim(t)
	if err := os.MkdirAll(filepath.Join(toolsDir(o.Cache), "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(shim, filepath.Join(toolsDir(o.Cache), "bin", shimName)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gonb", "goimports", "gopls"} {
		write(t, filepath.Join(toolsDir(o.Cache), "bin", name), "#!/bin/sh\necho "+name+" \"$@\"\necho $GOFLAGS, $GOWORK.\nfor p in go goimports gopls; do command -v $p; done\nexit 0\n")
	}
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

// sh runs a program of the kernel in a folder, as GoNB would.
func sh(t *testing.T, dir string, o Options, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PARALLELCL_GO="+o.Go, "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func TestInstallTwice(t *testing.T) {
	o, source := machine(t), module(t)
	first := install(t, o, Source{Dir: source, Version: "devel", Clone: true})
	if again := install(t, o, Source{Dir: source, Version: "devel", Clone: true}); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	packages := readFile(t, filepath.Join(filepath.Dir(first.Start), packagesFile))
	if packages != Module+"/toy\n"+Module+"/viz/report\n" {
		t.Errorf("a cell can import %q", packages)
	}
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
	want := []string{"cmd/pcl/main.go", "go.mod", "go.sum", "internal/seed/seed.go", "notebooks/quickstart.go",
		"toy/toy.go", "viz/report/page.gohtml", "viz/report/report.go"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("copied %q, %v; want %q", got, err, want)
	}
	runCell(t, o, k)
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
	before := []os.FileInfo{lstat(t, k.Start), lstat(t, filepath.Join(filepath.Dir(k.Start), goFile)), lstat(t, toy)}
	install(t, o, Source{Dir: source, Version: "v1.2.3"})
	for i, path := range []string{k.Start, filepath.Join(filepath.Dir(k.Start), goFile), toy} {
		if !os.SameFile(before[i], lstat(t, path)) {
			t.Errorf("%s was made anew", path)
		}
	}
	write(t, filepath.Join(source, "toy", "toy.go"), "package toy\n\nfunc Answer() int { return 6 * 7 }\n")
	install(t, o, Source{Dir: source, Version: "v1.2.3"})
	if got := readFile(t, toy); !strings.Contains(got, "6 * 7") {
		t.Errorf("after a change of the module its copy has\n%s", got)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(k.Start), "*.*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != configFile {
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

// In a cell, PATH begins with the kernel's folder, whose go is the shim.
func TestFindGoInACell(t *testing.T) {
	o := machine(t)
	k := install(t, o, Source{Dir: module(t), Version: "devel", Clone: true})
	bin := filepath.Join(filepath.Dir(k.Start), "bin")
	for _, c := range []struct{ path, remembered string }{
		{bin + string(filepath.ListSeparator) + filepath.Dir(o.Go), ""},
		{bin + string(filepath.ListSeparator) + filepath.Dir(o.Go), filepath.Join(bin, "go")},
		{bin, o.Go},
	} {
		t.Setenv("PATH", c.path)
		t.Setenv("PARALLELCL_GO", c.remembered)
		if got, err := FindGo(); err != nil || got != o.Go {
			t.Errorf("PATH %s, PARALLELCL_GO %s: found %s, %v", c.path, c.remembered, got, err)
		}
	}
	t.Setenv("PARALLELCL_GO", "")
	t.Setenv("PATH", bin)
	if got, err := FindGo(); err == nil {
		t.Errorf("found %s", got)
	}
}

// runCell does with the kernel's go command what GoNB does: a new module, a cell, a build.
func runCell(t *testing.T, o Options, k Kernel) {
	t.Helper()
	goTool, cell := filepath.Join(filepath.Dir(k.Start), goFile), t.TempDir()
	sh(t, cell, o, goTool, "mod", "init", "gonb_12ab")
	write(t, filepath.Join(cell, "main.go"), "package main\n\nimport \""+Module+"/toy\"\n\nfunc main() { println(toy.Answer()) }\n")
	if out := sh(t, cell, o, goTool, "get"); out != "" {
		t.Errorf("go get says %q", out)
	}
	sh(t, cell, o, goTool, "build", "-o", "cell")
	if out := sh(t, cell, o, filepath.Join(cell, "cell")); out != "42\n" {
		t.Errorf("the cell says %q", out)
	}
	if v := sh(t, cell, o, goTool, "env", "GOVERSION"); !strings.HasPrefix(v, "go1.") {
		t.Errorf("go env says %q", v)
	}
}

func TestCellInAClone(t *testing.T) {
	o, source := machine(t), module(t)
	k := install(t, o, Source{Dir: source, Version: "devel", Clone: true})
	runCell(t, o, k)
	write(t, filepath.Join(source, "toy", "toy.go"), "package toy\n\nfunc Answer() int { return 6 * 7 }\n\nfunc New() {}\n")
	runCell(t, o, k) // without another installation
}

func TestStart(t *testing.T) {
	o := machine(t)
	k := install(t, o, Source{Dir: module(t), Version: "devel", Clone: true})
	t.Setenv("GOWORK", "/other/go.work")
	bin := filepath.Join(filepath.Dir(k.Start), "bin")
	want := "gonb -raw_error -logtostderr=false -log_file=/dev/null -stderrthreshold=FATAL --kernel /run/kernel 1.json\n" +
		"-buildvcs=false -ldflags=-s, .\n" +
		bin + "/go\n" + bin + "/goimports\n" + bin + "/gopls\n"
	if out := sh(t, t.TempDir(), o, k.Start, "/run/kernel 1.json"); out != want {
		t.Errorf("started as\n%s\nwant\n%s", out, want)
	}
}

func TestGoimportsKnowsThePackages(t *testing.T) {
	o := machine(t)
	k := install(t, o, Source{Dir: module(t), Version: "devel", Clone: true})
	for cell, c := range map[string]struct {
		want   string
		search bool // by the real goimports
	}{
		"package main\n\nvar _ = toy.Answer()\n":            {"package main; import \"" + Module + "/toy\"\n\nvar _ = toy.Answer()\n", false},
		"package main\n\nvar _ = nothing.Known\n":           {"package main\n\nvar _ = nothing.Known\n", true},
		"package main\n\nimport toy \"x/y\"\n\nvar _ = 1\n": {"package main\n\n                \n\nvar _ = 1\n", false},
	} {
		file := filepath.Join(t.TempDir(), "main.go")
		write(t, file, cell)
		out := sh(t, filepath.Dir(file), o, filepath.Join(filepath.Dir(k.Start), goimportsFile), "-w", file)
		if got := strings.HasPrefix(out, "goimports -w "+file+"\n"); got != c.search {
			t.Errorf("%q: searched: %t", cell, got)
		}
		if got := readFile(t, file); got != c.want {
			t.Errorf("%q became %q, want %q", cell, got, c.want)
		}
	}
}

func TestVersionThatIsNoName(t *testing.T) {
	o := machine(t)
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
	if v := toolVersions(); len(v) != 2 {
		t.Errorf("tools: %v", v)
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
		if c.OK || c.Detail == "" || c.Mend == "" {
			t.Errorf("nothing is there, but %+v", c)
		}
	}
}
