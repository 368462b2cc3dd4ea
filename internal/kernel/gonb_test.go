package kernel

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// Every mend finds its place in the pinned GoNB, and what comes out parses.
func TestMends(t *testing.T) {
	out, err := exec.Command("go", "mod", "download", "-json", gonb).Output() // it may not be in the module cache yet
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
