package report

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// markdownOf renders a cell in GitHub's Markdown with formulas and HTML, as Jupyter does.
func markdownOf(cell int) goldmark.Markdown {
	footnotes := extension.NewFootnote(extension.WithFootnoteIDPrefix(fmt.Sprintf("c%d-", cell)))
	m := goldmark.New(
		goldmark.WithExtensions(extension.GFM, footnotes),
		goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(formulaParser{}, 50))),
		goldmark.WithRendererOptions(markup.WithUnsafe()), // the page sanitises what comes out
	)
	m.Parser().AddOptions(outsideFormulas{})
	return m
}

// Bounds of Markdown in one text, far beyond what people write: the parser takes time that grows
// with the square of the marks in a text, fills up a table's short rows, and copies an address that
// is defined once to wherever it is used.
const (
	maxMarks = 50_000  // punctuation marks and lines
	maxCells = 100_000 // if each line were a row of the widest table
	maxTimes = 50      // as long as the text may what is made of it be
)

// within says whether a text has no more marks, and can have no more cells, than it should.
func (b *bounds) within(source string) bool {
	rows, widest, bars, marks := 0, 0, 0, 0
	for line := range strings.Lines(source) {
		columns := strings.Count(line, "|")
		rows, widest, bars = rows+1, max(widest, 1+columns), bars+columns
		for _, c := range []byte(line) {
			if util.IsPunct(c) && c != '+' && c != '/' && c != '=' { // base64 has these
				marks++
			}
		}
	}
	compared := marks - bars // with each other
	return marks+rows <= maxMarks && rows*widest <= max(maxCells, 10*len(source)) &&
		spend(&b.nodes, rows*widest) && spend(&b.marks, compared*compared)
}

// renderMarkdown renders the text of a cell, complete with its formulas and pictures.
func (r *notebookRenderer) renderMarkdown(source string) string {
	made := bounded{most: min(1000+maxTimes*len(source), r.left.made)}
	fits := r.left.within(source) && markdownOf(r.at).Convert([]byte(source), &made) == nil
	if r.left.made -= made.Len(); !fits {
		return r.tooMuch(source, "its text", "has too many marks, lines or cells of tables for Markdown")
	}
	return r.text(made.String(), source)
}

// text makes the HTML of a text harmless, and names what a reader would miss.
func (r *notebookRenderer) text(made, typed string) string {
	r.missed = ""
	shown := r.sanitise(made, typed)
	if r.missed != "" {
		r.leave("<%s> in its text: it is left out", r.missed)
	}
	return shown
}

// headingIDs names the headings of a page as Jupyter does, so that its links to them work, and as
// GitHub does. For each name it knows how often it was wanted.
type headingIDs map[string]int

// names returns both names of a heading; no second one where another heading has it.
func (ids headingIDs) names(heading string) (jupyter, github string) {
	jupyter = strings.Join(strings.Fields(heading), "-")
	github = strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, jupyter)
	jupyter = ids.unused(jupyter)
	if ids[github] > 0 {
		return jupyter, ""
	}
	return jupyter, ids.unused(github)
}

func (ids headingIDs) unused(id string) string {
	ids[id]++
	if n := ids[id]; n > 1 {
		return ids.unused(fmt.Sprintf("%s-%d", id, n))
	}
	return id
}

// link returns where a link of the notebook leads from the page, nothing if that is nowhere: then
// its words stay. The policy knows which schemes lead to other sites.
func (r *notebookRenderer) link(to string) string {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil || u.Scheme == "" && u.Host != "" {
		return ""
	}
	if u.Scheme != "" || u.Path == "" { // another site, or this page
		return to
	}
	if u.Path = r.site[path.Base(u.Path)]; u.Path == "" {
		return ""
	}
	return u.String()
}
