package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repeated is a text of n characters made of a piece.
func repeated(piece string) func(n int) string {
	return func(n int) string { return strings.Repeat(piece, 1+n/len(piece)) }
}

// between repeats one piece and then another.
func between(left, middle, right string) func(n int) string {
	return func(n int) string {
		k := n / (len(left) + len(right))
		return strings.Repeat(left, k) + middle + strings.Repeat(right, k)
	}
}

// counted makes lines or words that differ by their number.
func counted(piece func(i int) string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString(piece(i))
		}
		return b.String()
	}
}

func within(begin string, inner func(n int) string, end string) func(n int) string {
	return func(n int) string { return begin + inner(n) + end }
}

// hostileTexts are such as parsers of Markdown, of formulas and of HTML have needed quadratic time
// or worse for.
var hostileTexts = map[string]func(n int) string{
	"emphasis: closers":       repeated("a_ "),
	"emphasis: openers":       repeated("_a "),
	"emphasis: mismatched":    repeated("*a_ "),
	"emphasis: of all kinds":  repeated("*a **b ~c ~~d _e "),
	"strikethrough":           repeated("~a "),
	"links: closers":          repeated("a]"),
	"links: openers":          repeated("[a"),
	"links: no end":           repeated("[a]("),
	"links: no address":       repeated("[a](b"),
	"links: no bracket":       repeated("[a](<b"),
	"links: no title":         repeated(`[a](b "`),
	"links: mismatched":       repeated("[ (]("),
	"links: nested":           between("[", "a", "]"),
	"links: emphasised":       repeated("[*a](b)"),
	"pictures: openers":       repeated("![a"),
	"pictures: nested":        between("![", "a", "](#)"),
	"references: definitions": repeated("[a]: b\n"),
	"references: unfinished":  repeated("[a]: \n"),
	"references: long": func(n int) string {
		return "[a]: " + strings.Repeat("b", n/2) + "\n\n" + strings.Repeat("[a]\n\n", n/10)
	},
	"quotations":          repeated(">"),
	"quotations, spaced":  repeated("> "),
	"quotations, long":    repeated("> > > > > > > > > > > > a\n"),
	"lists":               repeated("- "),
	"lists, indented":     counted(func(i int) string { return strings.Repeat(" ", 2*min(i, 100)) + "- a\n" }),
	"lists, numbered":     repeated("1. "),
	"lists, long":         repeated("- a\n"),
	"lists in quotations": repeated("> - "),
	"tasks":               repeated("- [ ] a\n"),
	"tables: wide and long": func(n int) string {
		return strings.Repeat("|a", n/6) + "|\n" + strings.Repeat("|-", n/6) + "|\n" + strings.Repeat("|\n", n/6)
	},
	"tables: long":          within("|a|b|\n|-|-|\n", repeated("|1|2|\n"), ""),
	"tables: heads only":    repeated("|a|\n|-|\n"),
	"tables: delimiters":    repeated("|-\n"),
	"footnotes: same":       repeated("[^1]: a\n"),
	"footnotes: nested":     repeated("[^1]: "),
	"footnotes: references": within("[^1]: a\n\n", repeated("[^1] "), ""),
	"footnotes: many":       counted(func(i int) string { return fmt.Sprintf("[^%d]: a\n\nx[^%[1]d]\n\n", i) }),
	"headings: same":        repeated("# a\n"),
	"headings: empty":       repeated("#\n"),
	"headings: underlined":  repeated("a\n-\n"),
	"headings: numbered":    counted(func(i int) string { return fmt.Sprintf("# a-%d\n# a\n", i+1) }),
	"addresses":             repeated("http://"),
	"addresses: www":        repeated("www.a.b "),
	"addresses: mail":       repeated("a@"),
	"addresses: brackets":   within("http://a.b/", repeated(")"), ""),
	"code: of all lengths":  counted(func(i int) string { return "e" + strings.Repeat("`", i) }),
	"code: spans":           repeated("`a` "),
	"code: after spaces": func(n int) string {
		return strings.Repeat(" ", n/2) + "x" + strings.Repeat("```a``` ", n/16)
	},
	"code: fences":           repeated("```\na\n"),
	"code: a long fence":     between("`", "\na\n", "`"),
	"HTML: comments":         repeated("a <!-- "),
	"HTML: instructions":     repeated("a <?"),
	"HTML: declarations":     repeated("a <!A "),
	"HTML: CDATA":            repeated("a <![CDATA["),
	"HTML: unfinished tags":  repeated("a <a "),
	"HTML: attributes":       repeated("<a b='"),
	"HTML: one long tag":     within("<a ", counted(func(i int) string { return fmt.Sprintf("b%d=c ", i) }), ">"),
	"HTML: nested":           repeated("<div>"),
	"HTML: closed":           between("<b>", "a", "</b>"),
	"HTML: mismatched":       repeated("<b><i></b>"),
	"HTML: end tags":         repeated("</p>"),
	"HTML: formatting":       within("<p>"+strings.Repeat("<b>", 90)+"</p>", repeated("<p>x</p>"), ""),
	"HTML: items":            repeated("<li>"),
	"HTML: scripts":          repeated("<script>"),
	"HTML: drawings":         repeated("<svg>"),
	"HTML: drawings, closed": between("<svg><g>", "", "</g></svg>"),
	"HTML: styles":           repeated(`<b style="color:red;width:1px">`),
	"HTML: one long style":   within(`<b style="`, repeated("width:1px;"), `">`),
	"entities":               repeated("&amp"),
	"ampersands":             repeated("&"),
	"backslashes":            repeated(`\`),
	"lines":                  repeated("\n"),
	"tabulators":             repeated("\t"),
	"hard breaks":            repeated("a  \n"),
	"zeroes":                 repeated("\x00"),
	"formulas":               repeated("$x$ "),
	"formulas: dollars":      repeated("$"),
	"formulas: prices":       repeated("$a "),
	"formulas: no end":       repeated(`\begin{align} `),
	"formulas: mistakes":     repeated(`$\a$ `),
	"formulas: forged":       within("$"+strings.Repeat("x", 1000)+"$ ", repeated("\uFDD00\uFDD1"), ""),
	"formulas: forged, alt": within("$"+strings.Repeat("x", 1000)+"$ ![", repeated("\uFDD00\uFDD1"),
		"](data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=)"),
	"TeX: superscripts":   within("$x", repeated("^a"), "$"),
	"TeX: primes":         within("$x", repeated("'^a"), "$"),
	"TeX: accents":        within("$", repeated(`\hat`), "x$"),
	"TeX: negations":      within("$", repeated(`\not`), "=$"),
	"TeX: roots":          within("$", repeated(`\sqrt[a`), "$"),
	"TeX: roots in a row": within("$", repeated(`\sqrt[a]b`), "$"),
	"TeX: styles":         within("$", repeated(`\displaystyle`), "$"),
	"TeX: groups":         between("$", "", "$"),
	"TeX: braces":         within("$", between("{", "a", "}"), "$"),
	"TeX: text":           within("$", repeated(`\text{`), "$"),
	"TeX: fonts":          within("$", repeated(`\mathrm{ab}`), "$"),
	"TeX: fences":         within("$", repeated(`\left(`), "$"),
	"TeX: cells":          within(`\begin{align}`, repeated(`a&b\\`), `\end{align}`),
	"TeX: a long command": within(`$\`, repeated("a"), "$"),
	"TeX: limits":         within("$$\\sum", repeated(`\limits'`), "$$"),
}

// render makes what a page shows of a text, as Markdown and as an output, and returns its length.
func render(text string) int {
	n := &Notebook{}
	size := 0
	for _, c := range []cell{
		{Type: "markdown", Source: lines(text)},
		{Type: "code", Source: "x", outputs: []output{
			{Type: "display_data", Data: map[string]lines{"text/html": lines(text)}},
			{Type: "display_data", Data: map[string]lines{"text/latex": lines(text)}},
			{Type: "stream", Text: lines(text)},
		}},
		{Type: "code", Source: lines(text)},
	} {
		r := n.newRenderer(&notebookPage{}, nil)
		r.cell = &c
		shown := r.renderCell()
		size += len(r.page.Contents) + len(shown.Text) + len(shown.Output) + len(shown.Code)
	}
	return size
}

// TestHostileTextsEnd would take minutes, or run out of memory, where a parser is quadratic. The
// length of what comes out is bounded too.
func TestHostileTextsEnd(t *testing.T) {
	try := func(name string, n int, text string) {
		t.Run(name, func(t *testing.T) {
			if size := render(text); size > 3*pageFactor*n+3*pageBytes {
				t.Errorf("%d characters became %d", n, size)
			}
		})
	}
	for name, text := range hostileTexts {
		n := 40_000
		if strings.HasPrefix(name, "formulas") {
			n = 4_000 // each takes a millisecond
		}
		try(name, n, text(n))
	}
	try("emphasis, 480 kB", 480_000, hostileTexts["emphasis: mismatched"](480_000))
}

// TestFilesGiveNoRoom: a picture beside the notebook, under however many names, leaves a page's
// other bytes as they are.
func TestFilesGiveNoRoom(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.gif"), []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		0o644); err != nil {
		t.Fatal(err)
	}
	r := (&Notebook{File: filepath.Join(folder, "a.ipynb")}).newRenderer(&notebookPage{}, nil)
	before := r.left.shown
	for _, address := range []string{"a.gif", "a.gif?1", "./a.gif"} {
		t.Run(address, func(t *testing.T) {
			switch _, err := r.pictures.place(r, address); {
			case err != nil:
				t.Error(err)
			case r.left.shown != before:
				t.Errorf("r.left.shown is %d; want %d", r.left.shown, before)
			case len(r.pictures.all) != 1:
				t.Errorf("len(r.pictures.all) is %d; want 1", len(r.pictures.all))
			}
		})
	}
}

// TestFaultOfALibrary costs a cell its looks, and is named.
func TestFaultOfALibrary(t *testing.T) {
	p := &notebookPage{}
	r := (&Notebook{}).newRenderer(p, nil)
	r.notebook, r.cell = nil, &cell{Type: "code", Source: "a < b"} // so that rendering it fails
	if shown := r.atTheDoor(); shown.Text != "<pre>a &lt; b</pre>" || len(p.Left) != 1 {
		t.Errorf("shown is %q, left out %q", shown.Text, p.Left)
	}
}

// FuzzReader: bytes of all kinds are refused, or are a notebook of cells.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		`{"nbformat":4,"cells":[]}`, "\ufeff{\"nbformat\":4,\"cells\":[NaN,{\"metadata\":{\"a\":-Infinity}}]}",
		`{"nbformat":4,"cells":[{"outputs":"none"}]}`,
		`{"nbformat":4,"cells":[{"cell_type":["co","de"],"source":1,"attachments":[1],"outputs":[{"data":{"a":[1,"b"]},"traceback":{}}]},[]]}`, "{", "\xff\xfe{",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := notebookIn(data)
		if err == nil && (n.size != len(data) || len(n.cells) > maxList) {
			t.Errorf("%d bytes, %d cells of %d bytes", n.size, len(n.cells), len(data))
		}
	})
}
