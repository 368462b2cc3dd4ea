package grid

import "testing"

// TestTunedUnknownKeys: a file of tuned values with a mistyped key is refused, since the published
// value would be used in the place of the one meant.
func TestTunedUnknownKeys(t *testing.T) {
	for old, text := range map[string]string{
		"set.params.tau = 5":  "",
		"sets.params.tau = 5": "unknown key method.GMC.task.sets",
		"B = 1":               "unknown key method.GMC.task.B",
	} {
		t.Run(old, func(t *testing.T) {
			got, err := LoadTuned(write(t, "mine",
				"schema = 1\n[method.GMC.task]\nmethod = \"emgd-gmc\"\nvalues = \"tau 5\"\nA = 1.5\n"+old+"\n"))
			switch {
			case text == "" && (err != nil || len(got.settings("GMC", "task")) != 1):
				t.Errorf("settings %v, error %v", got.settings("GMC", "task"), err)
			case text != "" && err == nil:
				t.Errorf("no error, want %s", text)
			}
		})
	}
}
