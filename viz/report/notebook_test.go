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

	"github.com/parallelcl/parallelcl/internal/expect"
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
	switch {
	case !n.Executed:
		t.Errorf("executed %t, failed %v, kernel %q", n.Executed, n.Failed(), n.Kernel)
	case n.Failed() != nil:
		t.Error(n.Failed())
	case n.Kernel != "parallelcl":
		t.Errorf("n.Kernel is %q; want %q", n.Kernel, "parallelcl")
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
		"<title>Weights of K=2 streams</title>", "pcl report small.ipynb &gt; a", "v0.1.0", n.SHA256,
		"ParallelCL (Go), go1.26",
		"@article{lyu2026elastic", "@media print", "Content-Security-Policy",
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q", want)
			}
		})
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
		"formula": {markdownCell(`so $\foo$`), `\foo</code>`},
		"web": {markdownCell("![words](https://example.org/a.png)"),
			`<a href="https://example.org/a.png" rel="nofollow noreferrer">words</a>`},
		"no words": {htmlCell(`<img alt="" src="//example.org/a.png">`),
			`<a href="https://example.org/a.png" rel="nofollow noreferrer">a.png</a>`},
		"missing":    {markdownCell("![words](none.png)"), "<em>[words: "},
		"kind":       {markdownCell("![words](one.ipynb)"), "<em>[words: "},
		"attachment": {markdownCell("![words](attachment:a.png)"), "<em>[words: "},
		"raw HTML":   {markdownCell(`<img alt="" src="a.png">`), "<em>[picture a.png: "},
		"base64":     {picture("?"), "<em>[picture data:image/png: "},
		"empty":      {picture(""), "<em>[picture data:image/png: "},
		"not one":    {picture("bm90IGEgcG5n"), "<em>[picture data:image/png: "},
		"script":     {htmlCell(`<p>a</p><script>x</script>`), "&lt;script&gt;, was left out"},
		"widget": {
			outputCell(map[string]any{"output_type": "display_data",
				"data": map[string]any{"application/vnd.jupyter.widget-view+json": map[string]any{}}}), "needs a running notebook"},
		"figure": {
			outputCell(map[string]any{"output_type": "display_data",
				"data": map[string]any{viz.MediaType: `{"Drawings":[{"Width":9,"Values":"eA=="}]}`,
					"text/plain": "KEPT"}}), "KEPT"},
		"unknown cell": {map[string]any{"cell_type": "sql", "source": "SELECT <1>"}, "SELECT &lt;1&gt;"},
		"raw LaTeX": {map[string]any{"cell_type": "raw", "source": "\\x",
			"metadata": map[string]any{"format": "text/latex"}}, "<pre>\\x</pre>"},
		"shape": {map[string]any{"cell_type": "markdown", "source": "KEPT", "metadata": "text", "attachments": []any{1}},
			"KEPT"},
		"deep":       {htmlCell(strings.Repeat("<div>", 600) + "KEPT"), "KEPT"},
		"many lines": {markdownCell(strings.Repeat("- a\n", 30_000) + "KEPT"), "KEPT"},
		"no cell": {map[string]any{"cell_type": "code", "source": "KEPT", "outputs": "none", "execution_count": nil},
			"KEPT"},
	} {
		t.Run(name, func(t *testing.T) {
			n := notebookOf(t, c.cell)
			page := mainOf(notebookPage(t, n))
			if len(n.LeftOut) != 1 || !strings.HasPrefix(n.LeftOut[0], "cell 1: ") {
				t.Errorf("left out is %q", n.LeftOut)
			}
			if !strings.Contains(page, c.in) || strings.Contains(page, "<img") {
				t.Errorf("the page has not %q: %s", c.in, page)
			}
		})
	}
}

// TestRicherOutputsAreNamed: outputs of which a front end shows more than the page are named, also
// beside a text or a picture that the page shows.
func TestRicherOutputsAreNamed(t *testing.T) {
	gif64 := strings.TrimPrefix(gif, "data:image/gif;base64,")
	plain := func(media string, data any) map[string]any {
		return display(map[string]any{media: data, "text/plain": "WORDS"})
	}
	for name, c := range map[string]struct {
		cell      map[string]any
		in, named string // on the page, in its list; nothing is named where that is empty
	}{
		"Vega": {plain("application/vnd.vegalite.v5+json", map[string]any{"mark": "bar"}), "WORDS",
			"vnd.vegalite"},
		"widget": {plain("application/vnd.jupyter.widget-view+json", map[string]any{"model_id": "a"}), "WORDS",
			"widget-view"},
		"PDF":           {plain("application/pdf", "JVBERi0xLjQ="), "WORDS", "application/pdf"},
		"script":        {plain("application/javascript", "element.text(1)"), "WORDS", "application/javascript"},
		"GeoJSON":       {plain("application/geo+json", map[string]any{"type": "Point"}), "WORDS", "geo+json"},
		"mermaid's own": {plain("text/vnd.mermaid", "graph TD"), "WORDS", "text/vnd.mermaid"},
		"model":         {plain("model/gltf+json", "{}"), "WORDS", "model/gltf"},
		"video":         {plain("video/mp4", "AAAA"), "WORDS", "video/mp4"},
		"audio alone":   {display(map[string]any{"audio/wav": "AAAA"}), "needs a running notebook", "audio/wav"},
		"Plotly, a picture": {display(map[string]any{"application/vnd.plotly.v1+json": 1, "image/gif": gif64}),
			"data:image/gif", "plotly"},
		"a frame's text":   {plain("text/html", `<iframe src="https://a.example"></iframe>`), "WORDS", "<iframe>"},
		"a script's place": {plain("text/html", `<div id="a"></div><script>x</script>`), "WORDS", "<script>"},
		"a script's text":  {plain("text/html", `<script>x</script>`), "WORDS", "<script>"},
		"a style sheet": {htmlCell("<style>td{color:red}</style><table><tr><td>KEPT</td></tr></table>"), "KEPT",
			"<style>"},
		"a form":            {htmlCell("KEPT <form><button>x</button></form>"), "KEPT", "<form>"},
		"MathML":            {htmlCell("KEPT <math><mi>x</mi></math>"), "KEPT", "<math>"},
		"a video in a text": {markdownCell("KEPT <video src='a.mp4'></video>"), "KEPT", "<video>"},
		"a diagram":         {markdownCell("```mermaid\ngraph TD; A-->B;\n```"), "A--&gt;B", "mermaid"},
		"an output's": {display(map[string]any{"text/markdown": "```mermaid\nA\n```", "text/plain": "no"}), "A",
			"mermaid"},
		"code of others": {markdownCell("```python\nA\n```"), "A", ""},
		"PDF, a picture": {display(map[string]any{"application/pdf": "JVBERi0xLjQ=", "image/gif": gif64}),
			"data:image/gif", ""},
		"script, HTML": {display(map[string]any{"application/javascript": "x", "text/html": "<b>KEPT</b>"}), "KEPT", ""},
		"pandas": {plain("text/html",
			"<style scoped>.dataframe td{vertical-align:top}</style><table><tr><td>KEPT</td></tr></table>"), "KEPT", ""},
		"stderr as data": {display(map[string]any{"application/vnd.jupyter.stderr": "KEPT"}), `<pre class="stderr">KEPT`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := notebookOf(t, c.cell)
			if page := mainOf(notebookPage(t, n)); !strings.Contains(page, c.in) {
				t.Errorf("the page lacks %q: %s", c.in, page)
			}
			if named := strings.Join(n.LeftOut, "\n"); !strings.Contains(named, c.named) || (named == "") != (c.named == "") {
				t.Errorf("left out is %q, want %q", named, c.named)
			}
		})
	}
}

// TestTags: what an author's tags ask for, as nbconvert and Jupyter Book do, and what is collapsed
// in the notebook.
func TestTags(t *testing.T) {
	const code, output, fold, foldOutput = "CODE", "OUTPUT", `<details class="code">`, `<details class="out">`
	for name, c := range map[string]struct {
		metadata  map[string]any
		has, lack []string
		named     bool
	}{
		"none":          {nil, []string{code, output}, []string{fold, foldOutput}, false},
		"remove-input":  {map[string]any{"tags": []string{"a", "remove-input"}}, []string{output}, []string{code}, true},
		"remove_output": {map[string]any{"tags": []string{"remove_output"}}, []string{code}, []string{output}, true},
		"Remove-Cell":   {map[string]any{"tags": []string{"Remove-Cell"}}, nil, []string{code, output}, true},
		"remove-stdout": {map[string]any{"tags": []string{"remove-stdout"}}, []string{code}, []string{output}, true},
		"remove-stderr": {map[string]any{"tags": []string{"remove-stderr"}}, []string{code, output}, nil, false},
		"hide-input": {map[string]any{"tags": []string{"hide-input"}}, []string{code, output, fold},
			[]string{foldOutput}, false},
		"hide_output": {map[string]any{"tags": []string{"hide_output"}}, []string{code, output, foldOutput},
			[]string{fold}, false},
		"hide-cell": {map[string]any{"tags": []string{"hide-cell"}}, []string{code, output, fold, foldOutput},
			nil, false},
		"collapsed": {map[string]any{"collapsed": true}, []string{code, output, foldOutput}, []string{fold}, false},
		"source_hidden": {map[string]any{"jupyter": map[string]any{"source_hidden": true}}, []string{code, output, fold},
			[]string{foldOutput}, false},
		// of a shape that tags don't have
		"no tags": {map[string]any{"tags": "remove-cell"}, []string{code, output}, []string{fold, foldOutput}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cell := stream(output)
			cell["source"] = code
			if c.metadata != nil {
				cell["metadata"] = c.metadata
			}
			n := notebookOf(t, cell)
			page := mainOf(notebookPage(t, n))
			for _, want := range c.has {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q: %s", want, page)
				}
			}
			for _, no := range c.lack {
				if strings.Contains(page, no) {
					t.Errorf("the page has %q: %s", no, page)
				}
			}
			if (len(n.LeftOut) > 0) != c.named {
				t.Errorf("left out is %q", n.LeftOut)
			}
		})
	}
	one := display(map[string]any{"text/plain": output})
	one["outputs"].([]any)[0].(map[string]any)["metadata"] = map[string]any{"tags": []string{"remove_single_output"}}
	if page := mainOf(notebookPage(t, notebookOf(t, one))); strings.Contains(page, output) {
		t.Errorf("an output's own tag: %s", page)
	}
	text := map[string]any{"cell_type": "markdown", "source": "TEXT",
		"metadata": map[string]any{"tags": []string{"hide-cell"}}}
	if page := mainOf(notebookPage(t, notebookOf(t, text))); !strings.Contains(page,
		`<details class="text"><summary>Text</summary><p>TEXT</p>`) {
		t.Errorf("a text: %s", page)
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
		"output_type": "error", "ename": "ERROR", "evalue": "# gonb_1\nmain.go:3: undefined: a<b\nmore",
		"traceback": []string{"\x1b[31mmain.go:3\x1b[0m: undefined: a<b"},
	}))
	if err := n.Failed(); err == nil {
		t.Errorf("failed: %v", expect.Text(err))
	}
	page := notebookPage(t, n)
	switch {
	case !strings.Contains(page, `<pre class="error">ERROR: # gonb_1`):
		t.Errorf("page is %q; want %q in it", page, `<pre class="error">ERROR: # gonb_1`)
	case !strings.Contains(page, "\n<span class=\"term-fg31\">main.go:3</span>: undefined: a&lt;b</pre>"):
		t.Errorf("page is %q; want %q in it", page, "\n<span class=\"term-fg31\">main.go:3</span>: undefined: a&lt;b</pre>")
	case strings.Contains(page, "\x1b"):
		t.Errorf("page is %q; want no %q in it", page, "\x1b")
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
		"": "is not a notebook", "[]": "format 0, want 4", "{\n\"nbformat\":4,\n}": "line 3",
		`{"nbformat":3}`: "format 3, want 4", `{"nbformat":4}`: "no cells",
	} {
		t.Run(content, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.ipynb")
			must.Do(t, os.WriteFile(path, []byte(content), 0o644))
			_, err := report.ReadNotebook(path)
			expect.Refusal(t, "ReadNotebook", err, want, path)
		})
	}
}

func TestSite(t *testing.T) {
	dir, source := t.TempDir(), t.TempDir()
	dot := must.Get(os.ReadFile("testdata/dot.png"))(t)
	img := `<img src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(dot) + `">`
	shown := map[string]any{"output_type": "display_data", "data": map[string]any{"text/html": "x" + img}}
	for name, cells := range map[string][]any{
		"01-a.ipynb": {
			markdownCell(
				"# First\n\n**Question.** What is $x_1$? It is *less* than a full answer would take, but longer than two lines. More.\n\n[on](02-b.ipynb#There) ![d](dot.png)")},
		"02-b.ipynb": {markdownCell("# Second & last"),
			outputCell(map[string]any{"output_type": "error", "ename": "E", "evalue": "no"}), outputCell(shown)},
	} {
		data := must.Get(json.Marshal(map[string]any{"nbformat": 4, "cells": cells}))(t)
		must.Do(t, os.WriteFile(filepath.Join(source, name), data, 0o644))
	}
	must.Do(t, os.WriteFile(filepath.Join(source, "dot.png"), dot, 0o644))
	first, second := readNotebook(t, filepath.Join(source, "01-a.ipynb")),
		readNotebook(t, filepath.Join(source, "02-b.ipynb"))
	written := must.Get(report.Site(t.Context(), dir, "All of it", []*report.Notebook{first, second}, origin))(t)
	if len(written) != 3 || written[0] != filepath.Join(dir, "index.html") {
		t.Errorf("%q were written", written)
	}
	want := map[string][]string{
		"index.html": {
			"<title>All of it</title>",
			`<a class="card" href="01-a.html"><div class="shot" aria-hidden="true"><img src="data:image/png;base64,`,
			`<h2>First</h2><p>Question. What is x1? It is`,
			`href="02-b.html"`, "Second &amp; last", "A cell failed.", first.SHA256, second.SHA256, "@article",
		},
		"01-a.html": {`<a href="02-b.html#There">on</a>`, `<a href="02-b.html">Second &amp; last →</a>`,
			`<a href="index.html">`},
		"02-b.html": {`<a href="01-a.html">← First</a>`},
	}
	for file, texts := range want {
		t.Run(file, func(t *testing.T) {
			data := must.Get(os.ReadFile(filepath.Join(dir, file)))(t)
			for _, text := range texts {
				if !strings.Contains(string(data), text) {
					t.Errorf("%s lacks %s", file, text)
				}
			}
		})
	}
	_, err := report.Site(t.Context(), dir, "", []*report.Notebook{first, first}, origin)
	expect.Refusal(t, "two of one name", err, first.File)
	index := filepath.Join(source, "index.ipynb")
	must.Do(t, os.Rename(filepath.Join(source, "02-b.ipynb"), index))
	if _, err := report.Site(t.Context(), dir, "", []*report.Notebook{readNotebook(t, index)}, origin); err == nil {
		t.Errorf("a notebook called index: %v", expect.Text(err))
	}
}

// The box must agree with the file that repositories read.
func TestCitation(t *testing.T) {
	data := must.Get(os.ReadFile("../../CITATION.cff"))(t)
	page := notebookPage(t, readNotebook(t, "testdata/small.ipynb"))
	for _, key := range []string{"title", "url", "journal", "repository-code"} {
		t.Run(key, func(t *testing.T) {
			found := regexp.MustCompile(`(?m)^\s*`+key+`: (.*)$`).FindAllStringSubmatch(string(data), -1)
			if len(found) == 0 {
				t.Errorf("CITATION.cff has no %s", key)
			}
			for _, m := range found {
				if !strings.Contains(page, "{"+m[1]+"}") {
					t.Errorf("the page does not cite %s %q", key, m[1])
				}
			}
		})
	}
}
