package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// names lists the kernels in a Jupyter folder, ours or not.
func names(t *testing.T, data string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(data, "kernels"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// made returns a kernel of a version whose files exist in the cache.
func made(t *testing.T, cache, version string) Kernel {
	t.Helper()
	start := filepath.Join(cache, "kernels", version, startFile)
	write(t, start, "#!/bin/sh\n")
	return Kernel{Version: version, Source: "/somewhere", Start: start}
}

func TestVersionsSideBySide(t *testing.T) {
	data, cache := t.TempDir(), t.TempDir()
	write(t, filepath.Join(data, "kernels", "python3", "kernel.json"), `{"argv":["python"],"display_name":"Python 3","language":"python"}`)
	write(t, filepath.Join(data, "kernels", "broken", "kernel.json"), `{`)
	for _, step := range []struct {
		version string
		want    []string
	}{
		{"v0.1.0", []string{"parallelcl"}},
		{"v0.2.0", []string{"parallelcl", "parallelcl-v0.1.0"}},
		{"v0.2.0", []string{"parallelcl", "parallelcl-v0.1.0"}},
		{"v0.1.0", []string{"parallelcl", "parallelcl-v0.2.0"}}, // back again: no second one of it
		{"devel", []string{"parallelcl", "parallelcl-v0.1.0", "parallelcl-v0.2.0"}},
	} {
		if _, err := register(data, made(t, cache, step.version)); err != nil {
			t.Fatal(err)
		}
		if got := names(t, data); !slices.Equal(got, append([]string{"broken"}, append(step.want, "python3")...)) {
			t.Fatalf("after %s: %v", step.version, got)
		}
	}
	list, err := List(data)
	if err != nil || len(list) != 3 {
		t.Fatalf("listed %v, %v", list, err)
	}
	var titles []string
	for _, k := range list {
		titles = append(titles, k.Title)
		if filepath.Dir(k.Start) != filepath.Join(cache, "kernels", k.Version) || k.Source != "/somewhere" {
			t.Errorf("%s: start %s, source %s", k.Name, k.Start, k.Source)
		}
	}
	if want := []string{"ParallelCL (Go)", "ParallelCL v0.1.0 (Go)", "ParallelCL v0.2.0 (Go)"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}

	if err := Remove(cache, list[1]); err != nil {
		t.Fatal(err)
	}
	if got := names(t, data); !slices.Equal(got, []string{"broken", "parallelcl", "parallelcl-v0.2.0", "python3"}) {
		t.Errorf("after removing one: %v", got)
	}
	if got := names(t, cache); !slices.Equal(got, []string{"devel", "v0.2.0"}) {
		t.Errorf("the cache has %v", got)
	}
	if err := Remove(cache, list[1]); err == nil {
		t.Error("removed twice")
	}
}

func TestSpecIsWhatJupyterReads(t *testing.T) {
	data := t.TempDir()
	k, err := register(data, Kernel{Version: "v1.0.0", Source: "/src", Clone: true, Start: "/cache/kernels/v1.0.0/start"})
	if err != nil {
		t.Fatal(err)
	}
	var spec map[string]any
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(k.Spec, "kernel.json"))), &spec); err != nil {
		t.Fatal(err)
	}
	argv, _ := json.Marshal(spec["argv"])
	if string(argv) != `["/cache/kernels/v1.0.0/start","{connection_file}"]` ||
		spec["display_name"] != "ParallelCL (Go)" || spec["language"] != "go" || spec["interrupt_mode"] != "message" {
		t.Errorf("kernel.json: %v", spec)
	}
	if again, err := read(k.Spec); err != nil || again != k {
		t.Errorf("read back %+v, %v; want %+v", again, err, k)
	}
	if !strings.Contains(readFile(t, filepath.Join(k.Spec, "logo-svg.svg")), "<svg") {
		t.Error("no logo")
	}
}

func TestForeignKernelIsLeftAlone(t *testing.T) {
	data := t.TempDir()
	foreign := filepath.Join(data, "kernels", Name, "kernel.json")
	write(t, foreign, `{"argv":["other"]}`)
	if _, err := register(data, Kernel{Version: "v1.0.0", Start: "/start"}); err == nil {
		t.Errorf("registered over it: %v", err)
	}
	if readFile(t, foreign) != `{"argv":["other"]}` {
		t.Error("it was changed")
	}
	if list, err := List(data); len(list) != 0 || err != nil {
		t.Errorf("listed as ours: %v, %v", list, err)
	}
}

// files lists all that lies in a folder.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A kernel.json in our place may hold any version: it must not become a path.
func TestVersionIsNoPath(t *testing.T) {
	for _, version := range []string{"../../../x", "/x", "..", ".", "", "a/b", `a\b`, "v1\x1b[2J", "v1\u202e", "-v1", strings.Repeat("v", 101)} {
		root := t.TempDir()
		data := filepath.Join(root, "some", "where", "jupyter")
		meddled := filepath.Join(data, "kernels", Name, "kernel.json")
		text, err := json.Marshal(spec{Argv: []string{"/start"}, DisplayName: "ParallelCL (Go)", Metadata: &specMetadata{&specOrigin{Version: version}}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, meddled, string(text))
		if _, err := register(data, Kernel{Version: "v1.0.0", Start: "/start"}); err == nil {
			t.Errorf("%q: registered over it: %v", version, err)
		}
		if got := files(t, root); !slices.Equal(got, []string{"some/where/jupyter/kernels/parallelcl/kernel.json"}) {
			t.Errorf("%q: there are %q", version, got)
		}
		if list, err := List(data); len(list) != 0 || err != nil {
			t.Errorf("%q: listed as ours: %v, %v", version, list, err)
		}
	}
}

// A folder that has the name under which the current kernel would step aside, but is not ours, stays.
func TestForeignKernelAsideIsLeftAlone(t *testing.T) {
	data := t.TempDir()
	if _, err := register(data, Kernel{Version: "v1.0.0", Start: "/start"}); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(data, "kernels", Name+"-v1.0.0", "kernel.json")
	write(t, foreign, `{"argv":["other"]}`)
	if _, err := register(data, Kernel{Version: "v2.0.0", Start: "/start"}); err == nil || !strings.Contains(err.Error(), foreign[:len(foreign)-len("/kernel.json")]) {
		t.Errorf("registered: %v", err)
	}
	if readFile(t, foreign) != `{"argv":["other"]}` {
		t.Error("it was changed")
	}
}

// A kernel.json may name any program; only folders of the cache are deleted.
func TestRemoveStaysInTheCache(t *testing.T) {
	data, cache, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	keep := filepath.Join(elsewhere, "precious", "start")
	write(t, keep, "")
	k, err := register(data, Kernel{Version: "v1.0.0", Start: keep})
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(cache, k); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(keep); err != nil {
		t.Error(err)
	}
	if got := names(t, data); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestDataDir(t *testing.T) {
	t.Setenv("JUPYTER_DATA_DIR", "/jupyter")
	if dir, err := DataDir(); err != nil || dir != "/jupyter" {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv("JUPYTER_DATA_DIR", "")
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "/home/me")
	dir, err := DataDir()
	if err != nil || !slices.Contains([]string{"/home/me/.local/share/jupyter", "/home/me/Library/Jupyter"}, dir) {
		t.Errorf("%s, %v", dir, err)
	}
}

// Two clones have a kernel each, and the one whose name the other takes is told of.
func TestTwoClones(t *testing.T) {
	data, cache := t.TempDir(), t.TempDir()
	install := func(version, source string) Kernel {
		t.Helper()
		k := made(t, cache, version)
		k.Clone, k.Source = true, source
		k, err := register(data, k)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	one, two := cloneVersion("/one"), cloneVersion("/two")
	if k := install("devel", "/one"); k.Moved != "" { // by an earlier version of this program
		t.Error(k.Moved)
	}
	if k := install(one, "/one"); k.Moved != "" || len(names(t, data)) != 1 {
		t.Errorf("the same clone: %q, %v", k.Moved, names(t, data))
	}
	k := install(two, "/two")
	for _, want := range []string{"/one", "/two", "ParallelCL " + one + " (Go)"} {
		if !strings.Contains(k.Moved, want) {
			t.Errorf("nothing of %s in %q", want, k.Moved)
		}
	}
	if got := names(t, data); !slices.Equal(got, []string{"parallelcl", "parallelcl-" + one}) {
		t.Errorf("there are %v", got)
	}
	if one == two || one != cloneVersion("/one") || !validVersion(one) {
		t.Errorf("versions %s and %s", one, two)
	}
}

func TestQuickstart(t *testing.T) {
	source := filepath.Join(t.TempDir(), "a[1]") // no pattern
	t.Chdir(t.TempDir())
	if path, err := Quickstart(Kernel{Source: source, Version: "v1.0.0"}); path != "" || err != nil {
		t.Errorf("a module without notebooks: %q, %v", path, err)
	}
	write(t, filepath.Join(source, "notebooks", "00-quickstart.ipynb"), "zero")
	write(t, filepath.Join(source, "notebooks", "01-toy.ipynb"), "one")
	if path, err := Quickstart(Kernel{Source: source, Clone: true}); path != filepath.Join(source, "notebooks", "00-quickstart.ipynb") || err != nil {
		t.Errorf("a clone: %q, %v", path, err)
	}
	write(t, filepath.Join("parallelcl-notebooks", "v1.0.0", "01-toy.ipynb"), "mine")
	path, err := Quickstart(Kernel{Source: source, Version: "v1.0.0"})
	if err != nil || readFile(t, path) != "zero" || readFile(t, filepath.Join(filepath.Dir(path), "01-toy.ipynb")) != "mine" {
		t.Errorf("a copied module: %q, %v", path, err)
	}
	// After an upgrade, the notebooks are those of the new version, and links still lead somewhere.
	write(t, filepath.Join(source, "notebooks", "01-toy.ipynb"), "[text](../docs/data.md), [two](02-two.ipynb)")
	path, err = Quickstart(Kernel{Source: source, Version: "v1.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	want := "[text](https://" + Module + "/blob/v1.1.0/" + "docs/data.md), [two](02-two.ipynb)"
	if got := readFile(t, filepath.Join(filepath.Dir(path), "01-toy.ipynb")); got != want {
		t.Errorf("another version: %q, want %q", got, want)
	}
}

// An installed JupyterLab gets settings that a later version of this program adds.
func TestSettings(t *testing.T) {
	cache := t.TempDir()
	for range 2 {
		if err := writeSettings(cache); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(labDir(cache), "share", "jupyter", "lab", "settings", "overrides.json")
		var s map[string]map[string]any
		if err := json.Unmarshal([]byte(readFile(t, path)), &s); err != nil {
			t.Fatal(err)
		}
		if limit, _ := s["@jupyterlab/completer-extension:manager"]["providerTimeout"].(float64); limit < 5000 {
			t.Errorf("completions may take %v ms", limit)
		}
		write(t, path, `{"old": {}}`)
	}
}
