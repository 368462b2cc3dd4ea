package report

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// bounds is what may still be made for a page, over all of its cells. It counts what is made and
// done, never time, so that a page is the same on every machine. Content that exceeds it is shown
// as it was typed, and named. The counts are separate because they grow with notebooks at different
// rates.
type bounds struct {
	shown    int // bytes of the page without files, and without texts that are shown as typed
	made     int // bytes that are made on the way
	nodes    int // elements and texts of HTML, cells of tables
	marks    int // the work of Markdown, which grows with the square of the marks in a text
	tex      int // characters of formulas, and what macros make of them
	scanned  int // bytes in which formulas are looked for in vain
	pixels   int
	drawn    int // elements of drawings
	unpacked int // cells of figures' data
	files    int // bytes of files beside the notebook
}

// A page has at most pageFactor bytes for each byte of the notebook and of the files beside it that
// it shows, and pageBytes more.
const (
	pageFactor = 20
	pageBytes  = 1_000_000
)

// boundsOf returns the bounds for a notebook of some bytes. A text that is shown as typed takes up
// to six times its bytes.
func boundsOf(size int) bounds {
	return bounds{
		shown:    (pageFactor-8)*size + pageBytes/2,
		made:     100*size + 20_000_000,
		nodes:    size/2 + 1_000_000,
		marks:    100*size + 2_000_000_000,
		tex:      size/10 + 50_000,
		scanned:  500*size + 1_000_000_000,
		pixels:   64*size + 1<<28,
		drawn:    size/20 + 500_000,
		unpacked: size/4 + 1_000_000,
		files:    maxNotebook,
	}
}

// spend takes n of what is left, if that is enough.
func spend(left *int, n int) bool {
	if n > *left {
		return false
	}
	*left -= n
	return true
}

// A reopened element that is still open at the end of a paragraph is opened again in each paragraph
// that follows. An end tag within a fenced element does not close an element outside of it.
var (
	reopened = words(`a b big code em font i nobr s small strike strong tt u`)
	fenced   = words(`annotation-xml applet caption desc foreignobject html marquee math mi mn mo ms mtext
	object svg table td template th title`)
)

// nodesOf returns an upper bound on the number of nodes that the parser makes of HTML.
func nodesOf(text string) (nodes int) {
	const most = 512 // the parser nests elements no deeper
	open := map[string]int{}
	inner, lost := 0, 0 // open reopened elements: within the last fenced one, and outside of it, which stay open
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		nodes += 1 + min(most, inner+lost)
		switch t := z.Token(); {
		case fenced[t.Data]:
			lost, inner = lost+inner, 0
			clear(open)
		case !reopened[t.Data]:
		case t.Type == html.StartTagToken:
			open[t.Data]++
			inner++
		case t.Type == html.EndTagToken && open[t.Data] > 0:
			open[t.Data]--
			inner--
		}
	}
	return nodes
}

// plain shows a text as it was typed.
func plain(text string) string { return "<pre>" + escaped(text) + "</pre>" }

// tooMuch names a piece of a page that exceeds the bounds, and shows it as it was typed.
func (r *notebookRenderer) tooMuch(text, what, why string) string {
	r.leave("%s %s: it is shown as it is", what, why)
	return plain(text)
}

// bounded is a builder that refuses to grow beyond most bytes.
type bounded struct {
	strings.Builder
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, fmt.Errorf("more than %d bytes", b.most)
	}
	return b.Builder.Write(p)
}
