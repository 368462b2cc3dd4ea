package report

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown renders GitHub's Markdown, with HTML, as Jupyter does, in time linear in the text.
var markdown = func() goldmark.Markdown {
	m := goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe()), // the page sanitises what comes out
	)
	m.Parser().AddOptions(bounded{})
	return m
}()

// headingIDs names the headings of a page as Jupyter does, so that its links to them work. For each
// name it knows how often it was wanted.
type headingIDs map[string]int

func (ids headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	base := strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", `"`, "").Replace(withoutMaths(string(value)))), "-")
	id := base
	for id == "" || ids[id] > 0 {
		ids[base] = max(ids[base], 1) + 1
		id = fmt.Sprintf("%s-%d", base, ids[base])
	}
	ids[id] = max(ids[id], 1)
	return []byte(id)
}

func (ids headingIDs) Put(value []byte) { ids[string(value)]++ }

// renderMarkdown renders the text of a cell, complete with its formulas and pictures.
func (r *notebookRenderer) renderMarkdown(c *cell, source string) (string, error) {
	source, formulas, err := takeMaths(source)
	if err != nil {
		return "", err
	}
	src := []byte(source)
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(r.ids))))
	var buf bytes.Buffer
	if err := markdown.Renderer().Render(&buf, src, doc); err != nil {
		return "", err
	}
	clean, err := r.sanitise(c, buf.String(), textPolicy, formulas)
	return putMaths(clean, formulas), err
}

// link returns where a link of the notebook leads from the page; false where that is nowhere.
func (r *notebookRenderer) link(to string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil {
		return to, false
	}
	if u.Scheme != "" || u.Host != "" || u.Path == "" { // another site, or this page
		return to, slices.Contains([]string{"http", "https", "mailto"}, u.Scheme) || u.Scheme == "" && u.Host == "" && u.Opaque == ""
	}
	page, ok := r.site[u.Path]
	u.Path = page
	return u.String(), ok
}

var (
	headings = regexp.MustCompile(`(?s)<h([1-3]) id="([^"]*)">(.*?)</h[1-3]>`)
	anchors  = regexp.MustCompile(`</?a\b[^>]*>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	first    = regexp.MustCompile(`(?s)<p>(.*?)</p>`)
	leadIn   = regexp.MustCompile(`^<strong>[^<]*[.:]</strong>`) // a paragraph's heading in its line
)

// tocEntry is a line of the table of contents.
type tocEntry struct {
	Level int
	ID    string
	Text  template.HTML
}

func contents(page string) []tocEntry {
	var out []tocEntry
	for _, m := range headings.FindAllStringSubmatch(page, -1) {
		out = append(out, tocEntry{Level: int(m[1][0] - '0'), ID: m[2], Text: template.HTML(anchors.ReplaceAllString(m[3], ""))})
	}
	return out
}
