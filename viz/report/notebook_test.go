package report_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/cmpimg"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/report"
)

var origin = report.Origin{Command: "pcl report small.ipynb > a", Version: "v0.1.0"}

func readNotebook(t *testing.T, path string) *report.Notebook {
	t.Helper()
	n := must.Get(report.ReadNotebook(path))(t)
	return n
}

func notebookPage(t *testing.T, n *report.Notebook) string {
	t.Helper()
	var buf bytes.Buffer
	must.Do(t, n.Write(t.Context(), &buf, origin))
	return buf.String()
}

// TestNotebook compares the page's text with the one that was looked at.
func TestNotebook(t *testing.T) {
	n := readNotebook(t, "testdata/small.ipynb")
	if !n.Executed || n.Failed() != nil || n.Kernel != "parallelcl" {
		t.Errorf("executed %t, failed %v, kernel %q", n.Executed, n.Failed(), n.Kernel)
	}
	page := notebookPage(t, n)
	begin, end := strings.Index(page, "<header>"), strings.Index(page, "</main>")
	if begin < 0 || end < begin {
		t.Fatal("the page has no header or no main part")
	}
	got := page[begin:end]
	golden := "testdata/small_golden.html"
	if *cmpimg.GenerateTestData {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the page differs from %s; go test -regen writes it anew:\n%s", golden, diff)
	}
	for _, want := range []string{
		"<title>Weights of K=2 streams</title>", "pcl report small.ipynb &gt; a", "v0.1.0", n.SHA256, "ParallelCL (Go), go1.26",
		"@article{lyu2026elastic", "@media print", "Content-Security-Policy",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "alert(1)") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page has a script of an output, or a value that the template refused")
	}
}

// notebookOf writes a notebook with one cell.
func notebookOf(t *testing.T, cell map[string]any) *report.Notebook {
	t.Helper()
	data := must.Get(json.Marshal(map[string]any{"nbformat": 4, "cells": []any{cell}}))(t)
	path := filepath.Join(t.TempDir(), "one.ipynb")
	must.Do(t, os.WriteFile(path, data, 0o644))
	return readNotebook(t, path)
}

func markdownCell(source string) map[string]any {
	return map[string]any{"cell_type": "markdown", "source": source}
}

func outputCell(output map[string]any) map[string]any {
	return map[string]any{"cell_type": "code", "source": "x", "execution_count": 1, "outputs": []any{output}}
}

func htmlCell(html string) map[string]any {
	return outputCell(map[string]any{"output_type": "display_data", "data": map[string]any{"text/html": html}})
}

// TestWhatCannotBeShownIsNamed: it costs its place, not the page.
func TestWhatCannotBeShownIsNamed(t *testing.T) {
	picture := func(data string) map[string]any {
		return outputCell(map[string]any{"output_type": "display_data", "data": map[string]any{"image/png": data}})
	}
	for name, c := range map[string]struct {
		cell map[string]any
		in   string // the page
	}{
		"formula":      {markdownCell(`so $\foo$`), `\foo</code>`},
		"web":          {markdownCell("![words](https://example.org/a.png)"), `<a href="https://example.org/a.png" rel="nofollow noreferrer">words</a>`},
		"no words":     {htmlCell(`<img alt="" src="//example.org/a.png">`), `<a href="https://example.org/a.png" rel="nofollow noreferrer">a.png</a>`},
		"missing":      {markdownCell("![words](none.png)"), "<em>[words: "},
		"kind":         {markdownCell("![words](one.ipynb)"), "<em>[words: "},
		"attachment":   {markdownCell("![words](attachment:a.png)"), "<em>[words: "},
		"raw HTML":     {markdownCell(`<img alt="" src="a.png">`), "<em>[picture a.png: "},
		"base64":       {picture("?"), "<em>[picture data:image/png: "},
		"empty":        {picture(""), "<em>[picture data:image/png: "},
		"not one":      {picture("bm90IGEgcG5n"), "<em>[picture data:image/png: "},
		"script":       {htmlCell(`<p>a</p><script>x</script>`), "&lt;script&gt;, was left out"},
		"widget":       {outputCell(map[string]any{"output_type": "display_data", "data": map[string]any{"application/vnd.jupyter.widget-view+json": map[string]any{}}}), "needs a running notebook"},
		"figure":       {outputCell(map[string]any{"output_type": "display_data", "data": map[string]any{viz.DrawingType: `{"Drawings":[{"Width":9,"CSV":"eA=="}]}`, "text/plain": "KEPT"}}), "KEPT"},
		"unknown cell": {map[string]any{"cell_type": "sql", "source": "SELECT <1>"}, "SELECT &lt;1&gt;"},
		"raw LaTeX":    {map[string]any{"cell_type": "raw", "source": "\\x", "metadata": map[string]any{"format": "text/latex"}}, "<pre>\\x</pre>"},
		"shape":        {map[string]any{"cell_type": "markdown", "source": "KEPT", "metadata": "text", "attachments": []any{1}}, "KEPT"},
		"deep":         {htmlCell(strings.Repeat("<div>", 600) + "KEPT"), "KEPT"},
		"many lines":   {markdownCell(strings.Repeat("- a\n", 30_000) + "KEPT"), "KEPT"},
		"no cell":      {map[string]any{"cell_type": "code", "source": "KEPT", "outputs": "none", "execution_count": nil}, "KEPT"},
	} {
		n := notebookOf(t, c.cell)
		page := mainOf(notebookPage(t, n))
		if len(n.LeftOut) != 1 || !strings.HasPrefix(n.LeftOut[0], "cell 1: ") {
			t.Errorf("%s: left out is %q", name, n.LeftOut)
		}
		if !strings.Contains(page, c.in) || strings.Contains(page, "<img") {
			t.Errorf("%s: the page has not %q: %s", name, c.in, page)
		}
	}
}

// mainOf is the main part of a page.
func mainOf(page string) string {
	_, rest, _ := strings.Cut(page, "<main>")
	main, _, _ := strings.Cut(rest, "</main>")
	return main
}

func TestFailedCellsShow(t *testing.T) {
	n := notebookOf(t, outputCell(map[string]any{
		"output_type": "error", "ename": "ERROR", "evalue": "# gonb_1\nmain.go:3: undefined: a<b\nmore", "traceback": []string{"\x1b[31mmain.go:3\x1b[0m: undefined: a<b"},
	}))
	if err := n.Failed(); err == nil {
		t.Errorf("failed: %v", err)
	}
	page := notebookPage(t, n)
	if !strings.Contains(page, `<pre class="error">ERROR: # gonb_1`) || !strings.Contains(page, "\n<span class=\"term-fg31\">main.go:3</span>: undefined: a&lt;b</pre>") || strings.Contains(page, "\x1b") {
		t.Error("the page does not show the error and its traceback as text")
	}
}

func TestExecuted(t *testing.T) {
	code := map[string]any{"cell_type": "code", "source": "x", "execution_count": nil, "outputs": []any{}}
	if notebookOf(t, code).Executed {
		t.Error("a cell without results counts as executed")
	}
	code["source"] = " \n"
	if n := notebookOf(t, code); !n.Executed {
		t.Error("an empty cell needs execution")
	}
}

func TestReadNotebookErrors(t *testing.T) {
	for content, want := range map[string]string{
		"": "is not a notebook", "[]": "format 0, want 4", "{\n\"nbformat\":4,\n}": "line 3", `{"nbformat":3}`: "format 3, want 4", `{"nbformat":4}`: "no cells",
	} {
		path := filepath.Join(t.TempDir(), "bad.ipynb")
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
		if _, err := report.ReadNotebook(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want %q", content, err, want)
		}
	}
}

func TestSite(t *testing.T) {
	dir, source := t.TempDir(), t.TempDir()
	dot := must.Get(os.ReadFile("testdata/dot.png"))(t)
	img := `<img src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(dot) + `">`
	shown := map[string]any{"output_type": "display_data", "data": map[string]any{"text/html": "x" + img}}
	for name, cells := range map[string][]any{
		"01-a.ipynb": {markdownCell("# First\n\n**Question.** What is $x_1$? It is *less* than a full answer would take, but longer than two lines. More.\n\n[on](02-b.ipynb#There) ![d](dot.png)")},
		"02-b.ipynb": {markdownCell("# Second & last"), outputCell(map[string]any{"output_type": "error", "ename": "E", "evalue": "no"}), outputCell(shown)},
	} {
		data := must.Get(json.Marshal(map[string]any{"nbformat": 4, "cells": cells}))(t)
		must.Do(t, os.WriteFile(filepath.Join(source, name), data, 0o644))
	}
	must.Do(t, os.WriteFile(filepath.Join(source, "dot.png"), dot, 0o644))
	first, second := readNotebook(t, filepath.Join(source, "01-a.ipynb")), readNotebook(t, filepath.Join(source, "02-b.ipynb"))
	written := must.Get(report.Site(t.Context(), dir, "All of it", []*report.Notebook{first, second}, origin))(t)
	if len(written) != 3 || written[0] != filepath.Join(dir, "index.html") {
		t.Errorf("%q were written", written)
	}
	want := map[string][]string{
		"index.html": {
			"<title>All of it</title>", `<a class="card" href="01-a.html"><div class="shot" aria-hidden="true"><img src="data:image/png;base64,`,
			`<h2>First</h2><p>Question. What is x1? It is`,
			`href="02-b.html"`, "Second &amp; last", "A cell failed.", first.SHA256, second.SHA256, "@article",
		},
		"01-a.html": {`<a href="02-b.html#There">on</a>`, `<a href="02-b.html">Second &amp; last →</a>`, `<a href="index.html">`},
		"02-b.html": {`<a href="01-a.html">← First</a>`},
	}
	for file, texts := range want {
		data := must.Get(os.ReadFile(filepath.Join(dir, file)))(t)
		for _, text := range texts {
			if !strings.Contains(string(data), text) {
				t.Errorf("%s lacks %s", file, text)
			}
		}
	}
	if _, err := report.Site(t.Context(), dir, "", []*report.Notebook{first, first}, origin); err == nil || !strings.Contains(err.Error(), first.File) {
		t.Errorf("two of one name: %v", err)
	}
	index := filepath.Join(source, "index.ipynb")
	must.Do(t, os.Rename(filepath.Join(source, "02-b.ipynb"), index))
	if _, err := report.Site(t.Context(), dir, "", []*report.Notebook{readNotebook(t, index)}, origin); err == nil {
		t.Errorf("a notebook called index: %v", err)
	}
}

// The box must agree with the file that repositories read.
func TestCitation(t *testing.T) {
	data := must.Get(os.ReadFile("../../CITATION.cff"))(t)
	page := notebookPage(t, readNotebook(t, "testdata/small.ipynb"))
	for _, key := range []string{"title", "url", "journal", "repository-code"} {
		found := regexp.MustCompile(`(?m)^\s*`+key+`: (.*)$`).FindAllStringSubmatch(string(data), -1)
		if len(found) == 0 {
			t.Errorf("CITATION.cff has no %s", key)
		}
		for _, m := range found {
			if !strings.Contains(page, "{"+m[1]+"}") {
				t.Errorf("the page does not cite %s %q", key, m[1])
			}
		}
	}
}
