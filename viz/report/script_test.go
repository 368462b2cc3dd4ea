package report_test

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestScript: the files of the page's script are a program together. A browser tests what the
// program does.
func TestScript(t *testing.T) {
	_, loader, _ := strings.Cut(runsPage(t, runsFolder(t, sampleRuns())), "<script>")
	loader, _, _ = strings.Cut(loader, "</script>")
	if _, err := goja.Compile("script.js", unpacked(t, loader), true); err != nil {
		t.Error(err)
	}
}
