package kernel

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// Every mend finds its place in the pinned GoNB, and what comes out parses. GoNB's module is in the module cache, since
// package nb imports it.
func TestMends(t *testing.T) {
	list := exec.Command("go", "list", "-m", "-json", gonb)
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Dir, Version string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	if pinned := toolVersions()[0]; pinned != "gonb "+m.Version {
		t.Errorf("the tools have %s, the module has %s", pinned, m.Version)
	}
	dir := filepath.Join(t.TempDir(), "gonb")
	if err := copyModule(m.Dir, dir, notGoNB); err != nil {
		t.Fatal(err)
	}
	if err := applyMends(dir); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, m := range mends {
		files[filepath.Join(dir, filepath.FromSlash(m.file))] = true
	}
	for file := range files {
		if out, err := exec.Command("gofmt", "-l", "-e", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if err := applyMends(dir); err == nil {
		t.Error("mended twice without a complaint")
	}
}
