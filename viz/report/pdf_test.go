package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz/report"
)

func TestNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if path, err := report.FindBrowser(); err == nil && !strings.HasPrefix(path, "/Applications/") {
		t.Errorf("found %q, %v", path, err)
	}
}

// A browser of a few lines stands in for Chromium: it prints, or fails.
func TestPDF(t *testing.T) {
	dir := t.TempDir()
	browser, page, file := filepath.Join(dir, "chromium"), filepath.Join(dir, "a b.html"), filepath.Join(dir, "a.pdf")
	script := "#!/bin/sh\nfor a; do case $a in --print-to-pdf=*) out=${a#*=};; esac; done\n[ \"$a\" = \"file://" + dir +
		"/a%20b.html\" ] && echo %PDF >\"$out\"\n"
	must.Do(t, os.WriteFile(browser, []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	found, err := report.FindBrowser()
	if err != nil || found != browser {
		t.Skipf("scripts are no programs here: %v", err)
	}
	must.Do(t, report.PDF(t.Context(), browser, page, file))
	if data, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(data, []byte("%PDF")) {
		t.Errorf("%q, %v", data, expect.Text(err))
	}
	must.Do(t, os.WriteFile(browser, []byte("#!/bin/sh\necho no display >&2\nexit 3\n"), 0o755))
	if err := report.PDF(t.Context(), browser, page, file); err == nil {
		t.Errorf("a browser that fails: %v", expect.Text(err))
	}
}
