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
		t.Run(name, func(t *testing.T) {
			r := &Run{ID: "0123456789ab"}
			text, err := json.Marshal(map[string]any{"dataset": name, "scenario": map[string]any{"dataset": name}})
			if err != nil {
				t.Fatal(err)
			}
			r.Dataset, r.Config = name, text
			out, err := withoutFolders(r)
			switch {
			case err != nil:
				t.Error(err)
			case out.Dataset != want:
				t.Errorf("out.Dataset is %q; want %q", out.Dataset, want)
			case out.ID != r.ID:
				t.Errorf("out.ID is %q; want %q", out.ID, r.ID)
			}
			if s := out.Settings(); s["dataset"] != want || s["scenario.dataset"] != want {
				t.Errorf("settings %v", s)
			}
			if r.Dataset != name || r.Settings()["dataset"] != name {
				t.Error("the run itself was changed")
			}
		})
	}
}
