package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders GitHub's Markdown with formulas and HTML, as Jupyter does, in time linear in the text.
var markdown = func() goldmark.Markdown {
	footnotes := extension.NewFootnote(extension.WithFootnoteIDPrefixFunction(func(n ast.Node) []byte {
		prefix, _ := n.OwnerDocument().Meta()["footnotes"].(string)
		return []byte(prefix)
	}))
	m := goldmark.New(
		goldmark.WithExtensions(extension.GFM, footnotes),
		goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(formulaParser{}, 50))),
		goldmark.WithRendererOptions(
			markup.WithUnsafe(), // the page sanitises what comes out
			renderer.WithNodeRenderers(util.Prioritized(readyRenderer{}, 50)),
		),
	)
	m.Parser().AddOptions(bounded{})
	return m
}()

// renderMarkdown renders the text of a cell, complete with its formulas and pictures.
func (r *notebookRenderer) renderMarkdown(source string) string {
	if outOfBounds(source) {
		r.leave("its text has too many lines, or too wide tables, for Markdown: it is shown as it is")
		return "<pre>" + html.EscapeString(source) + "</pre>"
	}
	var found formulas
	src := []byte(noPlaces.Replace(source))
	pc := parser.NewContext()
	pc.Set(formulasKey, &found)
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(pc)).(*ast.Document)
	doc.SetMeta(map[string]any{"footnotes": fmt.Sprintf("c%d-", r.at), "formulas": &found})
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if heading, ok := n.(*ast.Heading); ok && entering {
			r.ids.name(heading, src)
		}
		return ast.WalkContinue, nil
	})
	var buf bytes.Buffer
	if err := markdown.Renderer().Render(&buf, src, doc); err != nil {
		panic(err) // a buffer takes all that is written
	}
	return found.put(r.sanitise(buf.String()).html, r.formula)
}

// headingIDs names the headings of a page as Jupyter does, so that its links to them work. For each
// name it knows how often it was wanted.
type headingIDs map[string]int

// name gives a heading its name, and GitHub's name too.
func (ids headingIDs) name(n *ast.Heading, src []byte) {
	words := strings.Fields(plainText(n, src))
	id := ids.unused(strings.Join(words, "-"))
	n.SetAttributeString("id", []byte(id))
	github := strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, strings.Join(words, "-"))
	if github != "" && ids[github] == 0 {
		ids[github] = 1
		n.InsertBefore(n, n.FirstChild(), &readyNode{html: `<a id="` + github + `"></a>`})
	}
}

func (ids headingIDs) unused(base string) string {
	id := base
	for id == "" || ids[id] > 0 {
		ids[base] = max(ids[base], 1) + 1
		id = fmt.Sprintf("%s-%d", base, ids[base])
	}
	ids[id] = max(ids[id], 1)
	return id
}

// plainText is the text of a part of Markdown.
func plainText(n ast.Node, src []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(src))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
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
	page, ok := r.site[path.Base(u.Path)]
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
