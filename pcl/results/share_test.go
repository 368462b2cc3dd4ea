package results

import (
	"encoding/json"
	"testing"
)

// TestWithoutFolders: own data have their names alone, also in the configuration; the ID and other
// sets stay.
func TestWithoutFolders(t *testing.T) {
	for name, want := range map[string]string{
		"folder:/home/me/photos?size=32x32": "folder:photos?size=32x32", `csv:C:\me\a&b.csv`: "csv:a&b.csv",
		"folder:/home/me/photos/": "folder:photos/",
		"folder:photos?label=a/b": "folder:photos?label=a/b", "npz:../x.npz": "npz:x.npz", "glyphs": "glyphs",
		"folder:photos": "folder:photos",
	} {
		r := &Run{ID: "0123456789ab"}
		text, err := json.Marshal(map[string]any{"dataset": name, "scenario": map[string]any{"dataset": name}})
		if err != nil {
			t.Fatal(err)
		}
		r.Dataset, r.Config = name, text
		out, err := withoutFolders(r)
		if err != nil || out.Dataset != want || out.ID != r.ID {
			t.Errorf("%s: %s (%v), want %s", name, out.Dataset, err, want)
		}
		if s := out.Settings(); s["dataset"] != want || s["scenario.dataset"] != want {
			t.Errorf("%s: settings %v", name, s)
		}
		if r.Dataset != name || r.Settings()["dataset"] != name {
			t.Errorf("%s: the run itself was changed", name)
		}
	}
}
