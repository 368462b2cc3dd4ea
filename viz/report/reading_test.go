package report_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz/report"
)

// display is a cell with one output of several media types.
func display(data map[string]any) map[string]any {
	return outputCell(map[string]any{"output_type": "display_data", "data": data})
}

func stream(text string) map[string]any {
	return outputCell(map[string]any{"output_type": "stream", "name": "stdout", "text": text})
}

func raw(format, source string) map[string]any {
	return map[string]any{"cell_type": "raw", "source": source, "metadata": map[string]any{"format": format}}
}

// TestReading: what Jupyter shows of a cell is on the page. None of it is left out unless its name
// begins with "but".
func TestReading(t *testing.T) {
	gif64 := strings.TrimPrefix(gif, "data:image/gif;base64,")
	const x = `<math><mrow><mi>x</mi></mrow></math>`
	for name, c := range map[string]struct {
		cell     map[string]any
		has, not string // spaces count as one; several are parted by " … "
	}{
		// Dollars in code are dollars.
		"indented code":         {markdownCell("a:\n\n    A=$B:$C\n"), "A=$B:$C", "<math"},
		"code in a list":        {markdownCell("1. a:\n\n       A=$B:$C\n"), "A=$B:$C", "<math"},
		"pre":                   {markdownCell("<pre>\nA=$B\n\nC=$D</pre>"), "A=$B C=$D", "<math"},
		"code element":          {markdownCell("<code>a=$b+$c</code> $x$"), "a=$b+$c … " + x, ""},
		"kbd across lines":      {markdownCell("<kbd>$a\n$b</kbd>"), "$a $b", "<math"},
		"code span":             {markdownCell("``$a ` $b`` $x$"), "$a ` $b … " + x, ""},
		"fence":                 {markdownCell("~~~sh\n$a $b\n~~~"), "$a $b", "<math"},
		"address":               {markdownCell("<https://a.example/$x$> [a](https://a.example/$y$)"), "$x$ … $y$", "<math"},
		"attribute":             {markdownCell(`<a title="$a$" href="#b">c</a>`), "$a$", "<math"},
		"comment":               {markdownCell("<!-- $\\foo$ -->\n\nEND"), "END", "foo"},
		"prices":                {markdownCell("$5 and $10, \\$x\\$, $5 of $y"), "$5 and $10, $x$, $5 of $y", "<math"},
		"stray backtick":        {markdownCell("a ` b\n\n$x$ `c`"), x + " <code>c</code>", ""},
		"backtick in an item":   {markdownCell("- a ` b\n- $x$ of `c`"), x + " of <code>c</code>", ""},
		"backticks in a table":  {markdownCell("|a|\n|-|\n|b ` c|\n|$x$ `d`|"), x + " <code>d</code>", ""},
		"code in HTML's output": {display(map[string]any{"text/html": "<code>$a$</code> $x$"}), "$a$ … " + x, ""},
		// Formulas end where Jupyter ends them.
		"spaces":        {markdownCell("$ x $"), x, ""},
		"space before":  {markdownCell("$ x$"), x, ""},
		"space after":   {markdownCell("$x $ b"), x + " b", ""},
		"several lines": {markdownCell("$$\nx\n$$"), x[len("<math>"):], ""},
		"a list's mark": {markdownCell("a $$x\n- y\n+ z\n> w$$ b"),
			"<mo>−</mo><mi>y</mi><mo>+</mo><mi>z</mi><mo>&gt;</mo><mi>w</mi>", "<li>"},
		"minus in brackets":    {markdownCell("a \\\\[x\n- y\\\\] b"), "<mo>−</mo><mi>y</mi>", "<li>"},
		"minus in environment": {markdownCell("\\begin{align}\nx\n- y\n\\end{align}"), "<mo>−</mo><mi>y</mi>", "<li>"},
		"list after TeX":       {markdownCell("`\\begin{x}` and `$$`:\n- one"), "<li>one", ""},
		"a heading's line":     {markdownCell("$$x\n=\ny$$"), "<mo>=</mo><mi>y</mi>", "<h1"},
		"empty line":           {markdownCell("$x\n\ny$"), "<p>$x</p> <p>y$</p>", "<math"},
		"dollars in braces":    {markdownCell(`$\text{a $x$ b}$ c`), "<mtext>a </mtext> … </math> c", "$"},
		"brackets":             {markdownCell(`a \\(x\\) and \\[x\\]`), x + " and", "("},
		"emphasis":             {markdownCell("*a $x_1*y_2$ b*"), "<em>a <math> … b</em>", ""},
		"link":                 {markdownCell("[$x$](#a)"), `<a href="#a">` + x + "</a>", ""},
		"picture's words":      {markdownCell("![a $x$](" + gif + ")"), `alt="a $x$"`, "<math"},
		"block of HTML":        {markdownCell("<div>\n$x$ &amp; $$a &lt; b$$\n</div>"), x + " &amp; … <mo>&lt;</mo>", ""},
		"quotation":            {markdownCell("> $$x\n> - y$$"), "<mo>−</mo><mi>y</mi>", "<li>"},
		"formula in an output": {display(map[string]any{"text/html": "<b>$x$</b> \\$y"}), "<b>" + x + "</b> $y", ""},
		"Markdown in an output": {display(map[string]any{"text/markdown": "*a* $x$", "text/plain": "no"}),
			"<em>a</em> " + x, ""},
		"LaTeX":            {display(map[string]any{"text/latex": "a $x$ b", "text/plain": "no"}), "a " + x + " b", ""},
		"LaTeX, a formula": {display(map[string]any{"text/latex": `\frac1x`, "text/plain": "no"}), "<mfrac>", ""},
		"but LaTeX, a table": {display(map[string]any{"text/latex": `\begin{tabular}{l}a\end{tabular}`,
			"text/plain": "TABLE"}), "TABLE", "<math"},
		// Environments and commands that KaTeX lacks.
		"align":            {markdownCell("a\n\n\\begin{align}\nx_{1} &= y \\\\\n&= z\n\\end{align}"), "<mtable>", "align}"},
		"align in dollars": {markdownCell(`$\begin{align*}x &= y\end{align*}$`), "<mtable>", "align*"},
		"eqnarray":         {markdownCell("$$\\begin{eqnarray}x &=& y\\end{eqnarray}$$"), "<mtable>", "eqnarray"},
		"multline":         {markdownCell("\\begin{multline*}x \\\\ y\\end{multline*}"), "<mtable>", "multline"},
		"subequations":     {markdownCell("\\begin{gather}x \\\\ y \\nonumber\\end{gather}"), "<mtable>", "gather"},
		"label": {markdownCell(
			"\\begin{equation}\\label{a}\\tag{7}x\\end{equation} see \\eqref{a}, $\\ref{a}$, \\ref{b}"), "(7) … 7 … b",
			"label"},
		"mbox": {markdownCell(`$\mbox{so } x \hspace{1em} \require{x}$`), "<mtext>so </mtext>", "mbox"},
		"macros": {
			markdownCell(`$\newcommand{\R}{\mathbb{Q}}\def\E{\mathbb{E}}$ $\R$ $\E$ $\newcommand{\own}[1]{#1}\own{x}$`),
			"ℚ … 𝔼 … <mi>x</mi>", "newcommand"},
		"operators": {markdownCell(`$\DeclareMathOperator*{\am}{arg\,max} \am_x$ $\am$`), "arg … <mi>x</mi>", "am}"},
		// Pictures that are none of the usual.
		"drawing": {display(
			map[string]any{
				"image/svg+xml": "<?xml version='1.0' encoding='latin1'?><svg xmlns='http://www.w3.org/2000/svg'><image href='data:image/jpg;base64,AA\nAA'/></svg>"}), `src="data:image/svg+xml;base64,PHN2Z`, ""},
		"drawing, no space": {display(map[string]any{"image/svg+xml": "<svg><text>é</text></svg>"}),
			`src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="`)), ""},
		"drawing in HTML": {htmlCell(`<svg aria-label="WORDS" style="width:50px"><path d="M0 0"/></svg>`),
			`alt="WORDS" … style="width: 50px"`, "<svg"},
		"broken lines": {display(map[string]any{"image/gif": gif64[:20] + "\n" + gif64[20:] + "\n",
			"text/plain": "WORDS"}), `alt="WORDS" src="data:image/gif`, ""},
		"alternative text": {outputCell(
			map[string]any{"output_type": "display_data", "data": map[string]any{"image/gif": gif64},
				"metadata": map[string]any{"image/gif": map[string]any{"alt": "OWN",
					"width": 20}}}), `style="width: 20px" alt="OWN"`, ""},
		"data address": {htmlCell("<img src='data:image/PNG;charset=utf-8;base64," + gif64 + "'>"),
			`src="data:image/gif`, ""},
		// The richest of several that can be shown.
		"a script only": {display(map[string]any{"text/html": "<script>x</script>", "image/gif": gif64}),
			"data:image/gif", "running"},
		"a script alone":    {htmlCell(" <script>x</script>\n"), `<div class="html"></div>`, "running"},
		"but more than one": {htmlCell("<script>x</script><canvas></canvas>"), "canvas&gt;, was left out", "<canvas"},
		"but a broken one":  {display(map[string]any{"image/png": "AAAA", "text/plain": "WORDS"}), "WORDS", "running"},
		"empty HTML":        {display(map[string]any{"text/html": "<div></div>", "text/plain": "WORDS"}), "WORDS", ""},
		"JSON": {display(map[string]any{"application/json": map[string]any{"a": 1}, "text/plain": "no"}),
			`&#34;a&#34;: 1`, ">no<"},
		"but unknown beside text": {display(map[string]any{"application/vnd.a": 1, "text/plain": "WORDS"}), "WORDS", ""},
		// Cells of all kinds.
		"no source": {map[string]any{"cell_type": "code", "source": " \n", "execution_count": 1,
			"outputs": stream("KEPT")["outputs"]}, "KEPT", "code"},
		"raw":               {raw("", "a <b>"), "<pre>a &lt;b&gt;</pre>", ""},
		"raw HTML":          {raw("text/html", "<b>a</b>"), "<b>a</b>", ""},
		"raw Markdown":      {raw("text/markdown", "*a*"), "<em>a</em>", ""},
		"but raw of others": {raw("text/x-rst", "*a*"), "<pre>*a*</pre>", ""},
		"but no type":       {map[string]any{"source": "KEPT"}, "KEPT", ""},
		"folded output": {map[string]any{"cell_type": "code", "source": "x",
			"metadata": map[string]any{"jupyter": map[string]any{"outputs_hidden": true}},
			"outputs":  stream("KEPT")["outputs"]}, "<details class=\"out\"> … KEPT", ""},
		// Names that links lead to.
		"headings": {markdownCell("## My *Own* Heading!\n[a](#My-Own-Heading!) [b](#my-own-heading)"),
			`id="My-Own-Heading!" … id="my-own-heading"`, ""},
		"anchor's name": {markdownCell(`<a name="there"></a> <span id="here">b</span>`), `id="there" … id="here"`, ""},
		"alert":         {markdownCell(`<div class="alert alert-info">a</div>`), `class="alert alert-info"`, ""},
		// Text as a terminal shows it.
		"progress": {stream("10%\r20%\r\x1b[Kdone\n"), ">done<", "10"},
		"cursor":   {stream("a\nb\n\x1b[2A\x1b[2Kc\n\x1b[1Bd"), ">c b d<", ""},
		"colours": {stream("\x1b[1;31ma\x1b[0m \x1b[38;5;208mb\x1b[48;5;232mc\x1b[0m <"),
			`class="term-fg31 term-fg1">a</span> … "term-fg33">b</span> … "term-fg33 term-bg40">c</span> &lt;`, "["},
		"dollars": {stream("$a$ $b$ \\(c\\)"), ">$a$ $b$ \\(c\\)<", ""},
		"link in stream": {stream("\x1b]8;;https://a.example\x07words\x1b]8;;\x07"),
			`<a href="https://a.example" rel="nofollow noreferrer">words</a>`, ""},
		"erased letters": {stream("ab\bc"), ">ac<", ""},
		"long":           {stream(strings.Repeat("a\n", 100)), "<summary>71 more lines</summary>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := notebookOf(t, c.cell)
			page := strings.Join(strings.Fields(mainOf(notebookPage(t, n))), " ")
			rest, missing := page, ""
			for part := range strings.SplitSeq(c.has, " … ") {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					missing = part
					break
				}
				rest = after
			}
			if missing != "" || c.not != "" && strings.Contains(page, c.not) {
				t.Errorf("want %q, and no %q in %s", missing, c.not, page)
			}
			if (len(n.LeftOut) > 0) != strings.HasPrefix(name, "but") {
				t.Errorf("left out is %q", n.LeftOut)
			}
		})
	}
}

// TestPicturesOfAllKinds: browsers show a BMP, and no TIFF, wherever they come from.
func TestPicturesOfAllKinds(t *testing.T) {
	var asBMP, asTIFF bytes.Buffer
	picture := image.NewGray(image.Rect(0, 0, 3, 2))
	must.Do(t, bmp.Encode(&asBMP, picture))
	must.Do(t, tiff.Encode(&asTIFF, picture, nil))
	for name, data := range map[string][]byte{`src="data:image/bmp;`: asBMP.Bytes(),
		"not a picture that browsers show": asTIFF.Bytes()} {
		t.Run(name, func(t *testing.T) {
			in64 := base64.StdEncoding.EncodeToString(data)
			folder := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(folder, "a.png"), data, 0o644))
			for _, cell := range []map[string]any{
				markdownCell("![x](a.png)"), htmlCell(`<img src="a.png">`), display(map[string]any{"image/png": in64}),
				htmlCell(`<img src="data:;base64,` + in64 + `">`),
				{"cell_type": "markdown", "source": "![x](attachment:a%20b)",
					"attachments": map[string]any{"a b": map[string]any{"image/png": in64}}},
			} {
				path := filepath.Join(folder, "one.ipynb")
				must.Do(t, os.Rename(notebookOf(t, cell).File, path))
				if page := mainOf(notebookPage(t, readNotebook(t, path))); !strings.Contains(page, name) {
					t.Errorf("%s", page)
				}
			}
		})
	}
}

// TestNotebookFiles: JSON as Python writes it, with a byte order mark or without.
func TestNotebookFiles(t *testing.T) {
	const text = `{"nbformat":4,"metadata":{"a":NaN,"language_info":{"name":"R","version":4.3},"kernelspec":[]},"cells":[{"cell_type":"markdown","source":["KE","PT NaN"],"metadata":{"b":[-Infinity,Infinity,"\"NaN"]}}]}`
	for name, data := range map[string][]byte{"plain": []byte(text), "UTF-8 with a mark": []byte("\xef\xbb\xbf" + text)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.ipynb")
			must.Do(t, os.WriteFile(path, data, 0o644))
			if page := notebookPage(t, readNotebook(t, path)); !strings.Contains(page, "KEPT NaN") ||
				!strings.Contains(page, "R, 4.3") {
				t.Errorf("%s", mainOf(page))
			}
		})
	}
}

// FuzzNotebook: every file is either refused or becomes a harmless page.
func FuzzNotebook(f *testing.F) {
	f.Add(must.Get(os.ReadFile("testdata/small.ipynb"))(f))
	for _, s := range specimens() {
		data := must.Get(json.Marshal(map[string]any{"nbformat": 4, "cells": []any{s.cell}}))(f)
		f.Add(data)
	}
	f.Add([]byte("\xff\xfe{\x00"))
	f.Add(
		[]byte(
			`{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"output_type":"stream","text":"\u001b[38;5;300m\u001b[2J\u001b[A\rx"}]},NaN]}`))
	path := filepath.Join(f.TempDir(), "a.ipynb")
	f.Fuzz(func(t *testing.T, data []byte) {
		must.Do(t, os.WriteFile(path, data, 0o644))
		n, err := report.ReadNotebook(path)
		if err != nil {
			return
		}
		harmlessPage(t, []byte(notebookPage(t, n)))
	})
}

// FuzzMarkdown: every text becomes a harmless page.
func FuzzMarkdown(f *testing.F) {
	for _, s := range specimens() {
		if source, ok := s.cell["source"].(string); ok {
			f.Add(source)
		}
	}
	f.Add(
		"$x$ \\begin{align}a\\end{align} `$` <code>$</code> $$\n- a\n$$ \\\\(x\\\\) $\\sqrt{\\frac{1}{2}}$ [^1]\n\n[^1]: a\n\n| a |\n|-|\n| $b$ |")
	path := filepath.Join(f.TempDir(), "a.ipynb")
	f.Fuzz(func(t *testing.T, source string) {
		data := must.Get(json.Marshal(
			map[string]any{"nbformat": 4, "cells": []any{markdownCell(source), htmlCell(source), stream(source),
				display(map[string]any{"text/latex": source})}}))(t)
		must.Do(t, os.WriteFile(path, data, 0o644))
		harmlessPage(t, []byte(notebookPage(t, readNotebook(t, path))))
	})
}
