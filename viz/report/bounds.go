package report

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// bounds are what may still be made for a page. They are kept over all of its cells and count what is made and done, never time:
// a page is the same on every machine. What exceeds them is shown as it was typed, and named.
type bounds struct {
	shown    int // bytes of the page, pictures included, but for texts as they were typed
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

// pageFactor and pageBytes bound a page: it has at most pageFactor bytes for each of the notebook's and of the files beside it
// that it shows, and pageBytes more.
const (
	pageFactor = 20
	pageBytes  = 1_000_000
)

// boundsOf are those of the page of a notebook of some bytes. Texts as they were typed take up to six times their bytes.
func boundsOf(size int) bounds {
	return bounds{
		shown: (pageFactor-8)*size + pageBytes/2, made: 100*size + 20_000_000, nodes: size/2 + 1_000_000, marks: 100*size + 2_000_000_000,
		tex: size/10 + 50_000, scanned: 500*size + 1_000_000_000, pixels: 64*size + 1<<28, drawn: size/20 + 500_000, unpacked: size/4 + 1_000_000, files: maxNotebook,
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

// reopened are elements that are opened again in each paragraph after the one in which they were not closed, and fenced such
// as keep an end tag from those outside.
var (
	reopened = words(`a b big code em font i nobr s small strike strong tt u`)
	fenced   = words(`annotation-xml applet caption desc foreignobject html marquee math mi mn mo ms mtext object svg table td template th title`)
)

// nodesOf is a bound of how many nodes a parser makes of HTML.
func nodesOf(text string) (nodes int) {
	const most = 512 // lie in each other
	open, lost := map[string]int{}, 0
	z := html.NewTokenizer(strings.NewReader(text))
	inner := 0
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

// tooMuch names a piece of a page that would exceed its bounds, and shows it as it was typed.
func (r *notebookRenderer) tooMuch(text, what, why string) string {
	r.leave("%s %s: it is shown as it is", what, why)
	return plain(text)
}

// bounded takes no more than it should.
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
