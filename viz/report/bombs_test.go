package report_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/report"
)

// times repeats a text with the number of each.
func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// again repeats a cell.
func again(n int, cell map[string]any) (all []any) {
	for range n {
		all = append(all, cell)
	}
	return all
}

func drawingCell(svg string) []any {
	return []any{
		display(
			map[string]any{
				"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">` + svg +
					"</svg>"})}
}

// levels nests references: at each level an element refers ten times to the one before.
func levels(open, again, end string) string {
	var b strings.Builder
	for i := 1; i < 9; i++ {
		fill := func(s string) string {
			return strings.NewReplacer("%d", fmt.Sprint(i), "%p", fmt.Sprint(i-1)).Replace(s)
		}
		b.WriteString(fill(open) + strings.Repeat(fill(again), 10) + fill(end))
	}
	return b.String()
}

// wide is a small picture that says it has millions of pixels.
func wide(side uint32, shade uint8) string {
	var b bytes.Buffer
	png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Gray{shade}}))
	data := b.Bytes()
	head := data[12:29] // "IHDR", width, height, …
	binary.BigEndian.PutUint32(head[4:], side)
	binary.BigEndian.PutUint32(head[8:], side)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(head))
	return base64.StdEncoding.EncodeToString(data)
}

// noise is a picture that can't be compressed.
func noise(side int) string {
	var b bytes.Buffer
	picture, random := image.NewGray(image.Rect(0, 0, side, side)), rand.New(rand.NewPCG(1, 2))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(random.Uint32())
	}
	png.Encode(&b, picture)
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// packedFigure is a figure whose data are half a million bytes of zeros.
func packedFigure() map[string]any {
	values := `{"data":[["a",0` + strings.Repeat(",0", 290_000) + `]],"series":[]}`
	drawing := map[string]any{"Name": "a", "Width": 90, "Rows": [][]any{{map[string]any{}}},
		"Values": viz.Pack([]byte(values))}
	return display(map[string]any{viz.MediaType: map[string]any{"Drawings": []any{drawing}}})
}

// bombs are small notebooks whose pages once were large, or took minutes or gigabytes, and what is
// named on their pages now.
func bombs() map[string]struct {
	cells []any
	named string
} {
	picture := noise(180)
	attached := map[string]any{"cell_type": "markdown", "source": strings.Repeat("![](attachment:a.png) ", 2000),
		"attachments": map[string]any{"a.png": map[string]any{"image/png": picture}}}
	deep := json.RawMessage(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))
	tree := `[` + strings.Repeat(`{"a":[`, 40) + "1" + strings.Repeat(",1", 9000) + strings.Repeat("]}", 40) + "]"
	var pixels []any
	for i := range 60 {
		pixels = append(pixels, display(map[string]any{"image/png": wide(5000, uint8(i))}))
	}
	html := func(text string) []any { return []any{htmlCell(text)} }
	unclosed := times(500, "<b title=%d>") + strings.Repeat("<p>x</p>", 4000)
	return map[string]struct {
		cells []any
		named string
	}{
		// Notebooks that once cost too much, and similar ones.
		"JSON: deep":        {again(4, display(map[string]any{"application/json": deep})), "too long for the page"},
		"JSON: a deep list": {again(4, display(map[string]any{"application/json": json.RawMessage(tree)})), ""},
		"picture: attached": {[]any{attached}, ""},
		"picture: a reference": {
			[]any{markdownCell("[a]: data:image/png;base64," + noise(60) + "\n\n" + strings.Repeat("![][a] ", 2000))},
			"too many marks"},
		"picture: in many outputs": {again(300, display(map[string]any{"image/png": noise(20)})), ""},
		"picture: all pixels":      {pixels, "too many pixels"},
		"drawing: use": {
			drawingCell(`<g id="a0"><rect/></g>` + levels(`<g id="a%d">`, `<use href="#a%p"/>`, "</g>")), "refer to each other"},
		"drawing: xlink": {
			drawingCell(`<g id="a0"><rect/></g>` + levels(`<g id="a%d">`, `<use xlink:href="#a%p"/>`, "</g>")),
			"refer to each other"},
		"drawing: entity in names": {
			[]any{
				display(
					map[string]any{
						"image/svg+xml": `<!DOCTYPE svg [<!ENTITY h "a">]><svg xmlns="http://www.w3.org/2000/svg"><g id="a0"><rect/></g>` + levels(`<g id="a%d">`, `<use href="#&h;%p"/>`, "</g>") + "</svg>"})}, "refer to each other"},
		"drawing: entities": {
			[]any{
				display(map[string]any{"image/svg+xml": `<!DOCTYPE svg [<!ENTITY a0 "x">` +
					levels(`<!ENTITY a%d "`, "&a%p;", `">`) +
					`]><svg xmlns="http://www.w3.org/2000/svg"><text>&a8;</text></svg>`})}, "refer to each other"},
		"drawing: patterns": {
			drawingCell(`<g id="a0"/>` + levels(`<pattern id="a%d">`, `<rect fill="url(#a%p)"/>`, "</pattern>") +
				`<rect fill="url(#a8)"/>`), "refer to each other"},
		"drawing: inherited": {
			drawingCell(`<g id="b">` + strings.Repeat("<rect/>", 10) + "</g>" + levels(`<pattern id="a%d"><g fill="url(#a%p)">`,
				"", `<use href="#b"/></g></pattern>`) + `<rect fill="url(#a8)"/>`), "refer to each other"},
		"drawing: a style sheet": {
			drawingCell("<style>" + levels(".c%d{mask:url(#a%p)}", "", "") + "</style>" +
				levels(`<mask id="a%d">`, `<rect class="c%d"/>`, "</mask>") + `<rect mask="url(#a8)"/>`), "refer to each other"},
		"drawing: animated": {
			drawingCell(levels(`<g id="a%d">`, `<use><set attributeName="href" to="#a%p"/></use>`, "</g>")),
			"refer to each other"},
		"drawing: markers": {
			drawingCell(`<marker id="m">` + strings.Repeat("<rect/>", 1000) + `</marker><path marker-mid="url(#m)" d="` +
				strings.Repeat("M1 1h1v1h1", 1000) + `"/>`), "refer to each other"},
		"drawing: in a drawing": {drawingCell(`<image href="data:image/svg+xml;base64,PHN2Zz4="/>`),
			"refer to each other"},
		"drawing: letters as %": {
			drawingCell(`<g id="a0"><rect/></g>` + levels(`<g id="a%d">`, `<use href="#%61%p"/>`, "</g>")),
			"refer to each other"},
		"drawing: odd ids": {
			drawingCell(`<g id="a(0"><rect/></g>` + levels(`<g id="a(%d">`, `<use href="#a(%p"/>`, "</g>")),
			"refer to each other"},
		"drawing: other prefix": {
			drawingCell(`<g xmlns:x="http://www.w3.org/1999/xlink"><g id="a0"><rect/></g>` +
				levels(`<g id="a%d">`, `<use x:href="#a%p"/>`, "</g>") + "</g>"), "refer to each other"},
		"drawing: its defaults": {
			[]any{
				display(
					map[string]any{
						"image/svg+xml": `<!DOCTYPE svg [<!ATTLIST use href CDATA "#a">]><svg xmlns="http://www.w3.org/2000/svg"><g id="a"/></svg>`})}, "refer to each other"},
		"drawing: quoted doctype": {
			[]any{
				display(
					map[string]any{
						"image/svg+xml": `<!DOCTYPE svg [<?a " ?>]><svg xmlns="http://www.w3.org/2000/svg"><g id="a0"><rect/></g>` +
							levels(`<g id="a%d">`, `<use href="#a%p"/>`, "</g>") + `</svg><!-- " ]><svg/> -->`})}, "refer to each other"},
		"drawing: handed down": {
			drawingCell(levels(`<mask id="a%d"><g mask="url(#a%p)">`, `<rect mask="inherit"/>`, "</g></mask>") +
				`<rect mask="url(#a8)"/>`), "refer to each other"},
		"drawing: key frames": {
			drawingCell("<style>" + levels("@keyframes k%d{to{mask:url(#a%p)}} .c%d{animation:k%d 9s}", "", "") + "</style>" +
				levels(`<mask id="a%d">`, `<rect class="c%d"/>`, "</mask>")), "refer to each other"},
		"drawing: braces in a URL": {
			drawingCell("<style>" + levels(".c%d{--x:url(}.d{);mask:url(#a%p)}", "", "") + "</style>" +
				levels(`<mask id="a%d">`, `<rect class="c%d"/>`, "</mask>") + `<rect mask="url(#a8)"/>`), "refer to each other"},
		"drawing: classes animated": {
			drawingCell("<style>" + levels(".c%d{mask:url(#a%p)}", "", "") + "</style>" +
				levels(`<mask id="a%d">`, `<rect><set attributeName="class" to="c%d"/></rect>`, "</mask>") +
				`<rect mask="url(#a8)"/>`), "refer to each other"},
		"drawing: spaced data": {drawingCell(`<image href="da&#10;ta: image/svg+xml;base64,PHN2Zz4="/>`),
			"refer to each other"},
		"drawing: shown often": {[]any{
			map[string]any{"cell_type": "markdown", "source": strings.Repeat("![](attachment:a) ", 2000),
				"attachments": map[string]any{
					"a": map[string]any{"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg">` + strings.Repeat("<g/>", 5000) +
						"</svg>"}}}}, "takes too long"},
		// Ten of our own.
		"Markdown: each cell at its limit": {again(40, markdownCell(strings.Repeat("*a_ ", 20_000))), "too many marks"},
		"Markdown: each table at its limit": {
			again(200, markdownCell(strings.Repeat("|a", 310)+"|\n"+strings.Repeat("|-", 310)+"|\n"+strings.Repeat("|\n", 310))),
			"too many marks"},
		"Markdown: a long address": {
			again(50, markdownCell("[a]: "+strings.Repeat("b", 20_000)+"\n\n"+strings.Repeat("[a]\n\n", 1000))),
			"too many marks"},
		"HTML: never closed": {html(unclosed), "too many elements"},
		"HTML: closed where it can't be": {
			html(strings.Repeat("<table><tr><td><b title=1><table></b></table>", 100) + times(500,
				"<b title=%d><svg><desc></b></svg>") + strings.Repeat("<p>x</p>", 4000)), "HTML"},
		"HTML: headings in headings": {html(strings.Repeat("<h1>a<div><h2>a<div>", 120) + strings.Repeat("b", 100_000)), ""},
		"formulas: macros of macros": {
			again(20, markdownCell(`$\gdef\a{`+strings.Repeat("x", 900)+`}\gdef\b{`+strings.Repeat(`\a`, 15)+`}$ `+
				strings.Repeat(`$\b$ `, 200))), "formula"},
		"formulas: arguments": {
			[]any{markdownCell(`$\gdef\a#1{` + strings.Repeat("#1", 2000) + `}\a{` + strings.Repeat("x", 2000) + `}$`)},
			"macros make too much"},
		"formulas: no end":           {html(strings.Repeat(`\\[{`, 400_000)), ""},
		"terminal: far to the right": {[]any{stream(strings.Repeat("\x1b[240Ca\n", 20_000))}, "too long for the page"},
		"figures: zeros":             {again(30, packedFigure()), "more than a page can hold"},
		"contents: headings":         {again(200, markdownCell(strings.Repeat("#\u00a0a\n\n# a\n", 100))), ""},
		"cells: of nothing":          {again(50_000, map[string]any{"source": "&"}), "unknown"},
	}
}

// madeOf writes a notebook of cells and returns its page, the notebook, its bytes, and what was
// allocated, which is a count of the work done.
func madeOf(t *testing.T, cells []any) (page string, n *report.Notebook, bytesIn int, allocated uint64) {
	t.Helper()
	data := must.Get(json.Marshal(map[string]any{"nbformat": 4, "metadata": map[string]any{}, "cells": cells}))(t)
	path := filepath.Join(t.TempDir(), "a.ipynb")
	must.Do(t, os.WriteFile(path, data, 0o644))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n = readNotebook(t, path)
	page = notebookPage(t, n)
	runtime.ReadMemStats(&after)
	return page, n, len(data), after.TotalAlloc - before.TotalAlloc
}

// TestBombs: a page is at most 20 times its notebook and 1 MB, what is allocated for it at most
// 2,000 times and 6 GB, and what is not shown for that is named.
func TestBombs(t *testing.T) {
	all := bombs()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			page, n, size, allocated := madeOf(t, all[name].cells)
			if len(page) > 20*size+1_000_000 {
				t.Errorf("%d bytes became %d", size, len(page))
			}
			if allocated > 2000*uint64(size)+6_000_000_000 {
				t.Errorf("%d bytes took %d MB", size, allocated>>20)
			}
			if named := strings.Join(n.LeftOut, "\n"); !strings.Contains(named, all[name].named) ||
				(named == "") != (all[name].named == "") {
				t.Errorf("left out is %.300q, want %q", named, all[name].named)
			}
			t.Logf("%d B in, %d B out, %d MB", size, len(page), allocated>>20)
		})
	}
}

// TestPictureStandsOnce: however often it is shown, and from wherever.
func TestPictureStandsOnce(t *testing.T) {
	picture := noise(8)
	same := display(map[string]any{"image/png": picture})
	page, _, _, _ := madeOf(t, []any{
		map[string]any{"cell_type": "markdown", "source": "![one](attachment:a) ![two](attachment:a)",
			"attachments": map[string]any{"a": map[string]any{"image/png": picture}}},
		same, htmlCell(`<img alt="three" src="data:image/png;base64,` + picture + `">`), same,
	})
	if n := strings.Count(page, picture[:100]); n != 1 {
		t.Errorf("it stands %d times", n)
	}
	for _, want := range []string{`<img data-as="0" alt="two">`, `<img alt="three" data-as="0">`,
		`<img data-picture="0" src="data:image/png;base64,`} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(page, want) {
				t.Errorf("no %s", want)
			}
		})
	}
}

// TestDrawingsAsPeopleMakeThem: drawings with elements used thousands of times, clipped, masked or
// coloured by style sheets are shown.
func TestDrawingsAsPeopleMakeThem(t *testing.T) {
	for name, svg := range map[string]string{
		"a scatter plot": `<defs><path id="m" d="M0 1"/><clipPath id="p"><rect/></clipPath></defs><g clip-path="url(#p)">` +
			strings.Repeat(`<use xlink:href="#m" x="1" y="2" style="fill:#1f77b4;stroke:#1f77b4"/>`, 50_000) + "</g>",
		"style sheets": `<style>.a{fill:url(#g)} .b{clip-path:url(#p);fill:#fff} @media print{.a{fill:#000}}</style><linearGradient id="g"><stop/><stop/></linearGradient><linearGradient id="h" href="#g"/><clipPath id="p"><rect class="c"/></clipPath>` + strings.Repeat(`<g class="b"><rect class="a"/></g>`, 5000),
		"an editor's":  `<metadata><x about="#y"/></metadata><g id="y"><a href="#y"><text>b</text></a></g>`,
	} {
		t.Run(name, func(t *testing.T) {
			if page, n, _, _ := madeOf(t, drawingCell(svg)); n.LeftOut != nil || !strings.Contains(page, "data:image/svg+xml") {
				t.Errorf("left out is %q", n.LeftOut)
			}
		})
	}
	illustrator := `<!DOCTYPE svg [<!ENTITY ns_svg "http://www.w3.org/2000/svg">]><svg xmlns="&ns_svg;"><rect/></svg>`
	if _, n, _, _ := madeOf(t, []any{display(map[string]any{"image/svg+xml": illustrator})}); n.LeftOut != nil {
		t.Errorf("entities: left out is %q", n.LeftOut)
	}
}

// TestRandomNotebooks: the bound of a page holds for pieces of all kinds, in any order and number.
func TestRandomNotebooks(t *testing.T) {
	pieces := []string{
		"# a\n", "*a* ", "_b_", "$x_1$ ", "$$\\frac12$$\n", "\\begin{align}a&b\\end{align}", "|a|b|\n|-|-|\n", "|1|2|\n",
		"[a](b) ", "[c]: d\n\n", "[c] ", "> ", "- ",
		"1. ", "```\n", "`", "<b title=1>", "<p>", "</b>", "<table><tr><td>", "<h1>a", "<svg><g/></svg>",
		"<img src='" + gif + "'>", "&", "'", `"`, "\n", "\n\n", "\x1b[31;1;4m",
		"\x1b[99C", "\x1b[9A", "\r", "\b", "if x == 1 { // c\n", "[^1] ", "[^1]: a\n", "![](none.png)", "<iframe>",
		"```mermaid\n", "é", "\\(x\\)", "{", "}", "[1,", "~~a~~", "http://a.b ",
	}
	for seed := range uint64(25) {
		random := rand.New(rand.NewPCG(seed, 51))
		text := func() string {
			few := 1 + random.IntN(len(pieces))
			var b strings.Builder
			for range random.IntN(200) {
				b.WriteString(pieces[random.IntN(few)])
			}
			return b.String()
		}
		var cells []any
		for range 1 + random.IntN(30) {
			cells = append(cells, []any{
				markdownCell(text()), htmlCell(text()), stream(text()), raw("text/html", text()), raw("", text()),
				map[string]any{"cell_type": "code", "source": text()},
				display(map[string]any{"text/latex": text(), "text/plain": text()}),
				display(map[string]any{"application/json": text()}), display(map[string]any{"text/markdown": text(), text(): 1}),
				outputCell(map[string]any{"output_type": "error", "ename": text(), "evalue": text(),
					"traceback": []string{text(), text()}}), map[string]any{"source": text()},
			}[random.IntN(11)])
		}
		if page, _, size, _ := madeOf(t, cells); len(page) > 20*size+1_000_000 {
			t.Errorf("seed %d: %d bytes became %d", seed, size, len(page))
		}
	}
}
