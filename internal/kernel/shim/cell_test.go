//go:build unix

package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goTool is the go command of the tests.
func goTool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHelpersThatACellNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		cell string
		want []string
	}{
		"none":            {"func main() {}", nil},
		"must":            {"func main() { must(1, nil) }", []string{"must", failHelper}},
		"check":           {"func main() { check(nil) }", []string{"check", failHelper}},
		"ctx":             {"func main() { <-ctx.Done() }", []string{"ctx"}},
		"its own must":    {"func must() {}\nfunc main() { must(); check(nil) }", []string{"check", failHelper}},
		"its own ctx":     {"var ctx = 1\nfunc main() { _ = ctx }", nil},
		"a parameter ctx": {"func f(ctx int) { _ = ctx }\nfunc main() {}", nil},
		"a field":         {"var x struct{ ctx int }\nfunc main() { _ = x.ctx }", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), "package main\n"+test.cell+"\n")
			for name, text := range helpers {
				write(t, filepath.Join(dir, helperFile(name)), text)
			}
			overlay, err := writeOverlay(dir)
			if err != nil {
				t.Fatal(err)
			}
			var o struct{ Replace map[string]string }
			if err := json.Unmarshal([]byte(read(t, overlay)), &o); err != nil {
				t.Fatal(err)
			}
			for name := range helpers {
				_, absent := o.Replace[filepath.Join(dir, helperFile(name))]
				if absent == slices.Contains(test.want, name) {
					t.Errorf("%s is absent: %t", name, absent)
				}
			}
		})
	}
}

// A cell is compiled by the go command as GoNB calls it, with helpers and with a must of its own.
func TestHelpersRun(t *testing.T) {
	c := machine(t)
	write(t, filepath.Join(c.Source, "go.mod"), "module "+c.Module+"\n\ngo 1.26.0\n")
	write(t, filepath.Join(c.Source, "go.sum"), "")
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("PARALLELCL_GO", goTool(t))
	if code := c.goCommand([]string{"mod", "init", "gonb_1"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, test := range []struct{ cell, want string }{
		{"import \"errors\"\nfunc main() {\n\tprintln(must(1, nil))\n\tcheck(errors.New(\"bad\"))\n}\n", "1\n/main.go:5: bad\n"},
		{"func must(s string) { println(s) }\nfunc main() { must(\"mine\"); println(ctx.Err() == nil) }\n", "mine\ntrue\n"},
	} {
		write(t, "main.go", "package main\n"+test.cell)
		if code := c.goCommand([]string{"build", "-o", "cell"}); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		out, _ := exec.Command("./cell").CombinedOutput()
		dir, _ := os.Getwd()
		if got := strings.ReplaceAll(string(out), dir, ""); got != test.want {
			t.Errorf("said %q, want %q", got, test.want)
		}
	}
}

// What a cell runs with ! in the user's folder is Go's own: nothing is left there.
func TestGoElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module mine\n\ngo 1.26.0\n")
	write(t, "main.go", "package main\n\nfunc main() {}\n")
	cmd := exec.Command(os.Args[0], "build", "-o", "x", ".") // another process, which becomes the go command
	cmd.Env = append(os.Environ(), "SHIM_TEST_GO=yes", "PARALLELCL_GO="+goTool(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := filepath.Glob("*"); err != nil || !slices.Equal(left, []string{"go.mod", "main.go", "x"}) {
		t.Errorf("the folder has %q, %v", left, err)
	}
}

// A kernel of which something says that its go command is this program finds Go all the same.
func TestFindGoIsNotTheShim(t *testing.T) {
	c := machine(t)
	program := filepath.Join(t.TempDir(), "shim")
	write(t, program, "")
	c.Go = filepath.Join(filepath.Dir(program), "go")
	if err := os.Symlink("shim", c.Go); err != nil {
		t.Fatal(err)
	}
	want := goTool(t)
	t.Setenv("PARALLELCL_GO", c.Go)
	if got, err := c.findGo(); err != nil || got != want {
		t.Errorf("found %s, %v, want %s", got, err, want)
	}
}

// A go.mod that replaces modules by folders does so from the cell's folder too.
func TestReplacedFolders(t *testing.T) {
	for line, want := range map[string]string{
		"replace a.org/b => ../b\n":                     "replace a.org/b => \"/src/b\"\n",
		"\ta.org/b v1.0.0 => \"./my b\" // a comment\n": "\ta.org/b v1.0.0 => \"/src/ours/my b\"\n",
		"replace a.org/b => ..\n":                       "replace a.org/b => \"/src\"\n",
		"replace a.org/b => /b\n":                       "replace a.org/b => /b\n",
		"replace a.org/b => c.org/d v1.0.0\n":           "replace a.org/b => c.org/d v1.0.0\n",
		"require a.org/b v1.0.0 // indirect\n":          "require a.org/b v1.0.0 // indirect\n",
	} {
		if got := absoluteReplace(line, "/src/ours"); got != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}

// proxy serves one module from a folder, as a module proxy would.
func proxy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	versions := filepath.Join(dir, "example.com/dice/@v")
	write(t, filepath.Join(versions, "list"), "v1.0.0\n")
	write(t, filepath.Join(versions, "v1.0.0.info"), `{"Version":"v1.0.0"}`)
	write(t, filepath.Join(versions, "v1.0.0.mod"), "module example.com/dice\n")
	f, err := os.Create(filepath.Join(versions, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": "module example.com/dice\n", "dice.go": "package dice\n\nfunc Roll() int { return 4 }\n"} {
		w, err := z.Create("example.com/dice@v1.0.0/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestThirdPartyImport(t *testing.T) {
	from := proxy(t)
	for name, test := range map[string]struct{ env, pkg, want string }{
		"fetched":   {"file://" + from, "example.com/dice", ""},
		"offline":   {"off", "example.com/dice", "main.go:3:8: example.com/dice is not on this machine and the network cannot be reached"},
		"not there": {"file://" + from, "example.com/nothing", "main.go:3:8: example.com/nothing cannot be fetched: "},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range map[string]string{"GOPROXY": test.env, "GOSUMDB": "off", "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(), "GOTOOLCHAIN": "local", "GOWORK": "off", "GOPRIVATE": ""} {
				t.Setenv(name, value)
			}
			clone, cell := t.TempDir(), t.TempDir()
			write(t, filepath.Join(clone, "go.mod"), "module example.org/ours\n\ngo 1.26.0\n")
			goMod := "module gonb_1\n\ngo 1.26.0\n\nrequire example.org/ours v0.0.0\n\nreplace example.org/ours => \"" + clone + "\"\n"
			write(t, filepath.Join(cell, "go.mod"), goMod)
			write(t, filepath.Join(cell, "main.go"), "package main\n\nimport \""+test.pkg+"\"\n\nimport \"example.org/ours/toy\"\n")
			code, said := captured(t, func() int { return get(goTool(t), cell) })
			if said = strings.TrimPrefix(said, cell+"/"); (code == 0) != (test.want == "") || !strings.HasPrefix(said, test.want) || strings.Count(said, "\n") > 1 {
				t.Fatalf("exit code %d, said %q", code, said)
			}
			if test.want == "" && !strings.Contains(read(t, filepath.Join(cell, "go.mod")), "example.com/dice v1.0.0") {
				t.Errorf("the cell's go.mod:\n%s", read(t, filepath.Join(cell, "go.mod")))
			}
			if read(t, filepath.Join(clone, "go.mod")) != "module example.org/ours\n\ngo 1.26.0\n" {
				t.Error("the clone's go.mod changed")
			}
		})
	}
}

// What an earlier kernel has fetched is there without a network.
func TestThirdPartyImportFetchedBefore(t *testing.T) {
	for name, value := range map[string]string{"GOSUMDB": "off", "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(), "GOTOOLCHAIN": "local", "GOWORK": "off", "GOPRIVATE": ""} {
		t.Setenv(name, value)
	}
	for _, from := range []string{"file://" + proxy(t), "off"} {
		t.Setenv("GOPROXY", from)
		cell := t.TempDir()
		write(t, filepath.Join(cell, "go.mod"), "module gonb_1\n\ngo 1.26.0\n")
		write(t, filepath.Join(cell, "main.go"), "package main\n\nimport \"example.com/dice\"\n")
		code, said := captured(t, func() int { return get(goTool(t), cell) })
		if code != 0 || !strings.Contains(read(t, filepath.Join(cell, "go.mod")), "example.com/dice v1.0.0") {
			t.Errorf("from %s: exit code %d, said %q", from, code, said)
		}
	}
}

func TestRequiredModules(t *testing.T) {
	got := requiredModules("module m\n\nrequire a.org/b v1.0.0 // indirect\n\nrequire (\n\tc.org/d v1.0.0\n)\nreplace (\n\te.org/f => \"/x\"\n)\nexclude (\n\tg.org/h v1.0.0\n)\n")
	if !slices.Equal(got, []string{"a.org/b", "c.org/d", "e.org/f"}) {
		t.Errorf("requires %q", got)
	}
	if within(got, "c.org/dd") || !within(got, "c.org/d/e") {
		t.Error("a module has what only begins like it, or lacks a package of its own")
	}
}
