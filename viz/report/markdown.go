package report

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown renders GitHub's Markdown, with HTML, as Jupyter does.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

// headingIDs names the headings of a page as Jupyter does, so that its links to them work.
type headingIDs map[string]bool

func (ids headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	base := strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", `"`, "").Replace(withoutMaths(string(value)))), "-")
	id := base
	for i := 2; id == "" || ids[id]; i++ {
		id = fmt.Sprintf("%s-%d", base, i)
	}
	ids[id] = true
	return []byte(id)
}

func (ids headingIDs) Put(value []byte) { ids[string(value)] = true }

// renderMarkdown renders the text of a cell, complete with its formulas and pictures.
func (r *notebookRenderer) renderMarkdown(c *cell, source string) (string, error) {
	source, formulas, err := takeMaths(source)
	if err != nil {
		return "", err
	}
	src := []byte(source)
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(r.ids))))
	if err := r.resolve(c, doc); err != nil {
		return "", err
	}
	var buf bytes.Buffer
	if err := markdown.Renderer().Render(&buf, src, doc); err != nil {
		return "", err
	}
	if found := loads(buf.String()); len(found) > 0 {
		return "", fmt.Errorf("the text loads %s: name pictures as ![description](file)", strings.Join(found, ", "))
	}
	return putMaths(buf.String(), formulas), nil
}

// resolve puts pictures into the page and turns links into such as work from there.
func (r *notebookRenderer) resolve(c *cell, doc ast.Node) error {
	var dead []*ast.Link
	var mistakes []error
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			name, err := url.PathUnescape(string(n.Destination))
			if err != nil {
				name = string(n.Destination)
			}
			uri, err := r.notebook.pictureURI(c, name)
			mistakes = append(mistakes, err)
			n.Destination = []byte(uri)
		case *ast.Link:
			to, ok := r.link(string(n.Destination))
			if n.Destination = []byte(to); !ok {
				dead = append(dead, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range dead { // its words stay
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
	return errors.Join(append(mistakes, err)...)
}

// link returns where a link of the notebook leads from the page; false where that is nowhere.
func (r *notebookRenderer) link(to string) (string, bool) {
	u, err := url.Parse(to)
	if err != nil {
		return to, false
	}
	if u.Scheme != "" || u.Path == "" { // another site, or this page
		return to, u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto" || u.Scheme == ""
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
