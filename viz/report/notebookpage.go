package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// notebookRenderer renders the cells of one notebook.
type notebookRenderer struct {
	notebook   *Notebook
	page       *notebookPage
	ids        headingIDs
	site       map[string]string // pages by the notebooks that links name
	typesetter typesetter
	formulas   []formula // those that texts have so far, by their marks
	pictures   pictures
	left       bounds
	cell       *cell  // at hand
	at         int    // its number, from 1
	missed     string // the first element that was left out and a reader would miss, a script last
	inHTML     bool   // of an output
}

func (n *Notebook) newRenderer(p *notebookPage, site map[string]string) *notebookRenderer {
	r := &notebookRenderer{
		notebook: n, page: p, ids: headingIDs{"cite": 1, "left": 1, "made": 1}, site: site, left: boundsOf(n.size),
		pictures: pictures{byAddress: map[string]int{}, bySum: map[string]int{}},
	}
	r.typesetter.left = &r.left.tex
	return r
}

// leave notes what the page cannot show of the cell at hand. A text may be full of it.
func (r *notebookRenderer) leave(format string, args ...any) {
	const most, longest = 50, 500
	if r.page.left++; r.page.left <= most {
		r.page.Left = append(r.page.Left,
			cut(fmt.Sprintf("cell %d: ", r.at)+strings.Map(printable, fmt.Sprintf(format, args...)), longest))
	}
}

// short is a text as a message has it.
func short(text string) string {
	return cut(strings.Join(strings.Fields(strings.Map(printable, text)), " "), 80)
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// notebookPage is what the template shows.
type notebookPage struct {
	card
	Heading  template.HTML
	Contents []tocEntry
	Cells    []shownCell
	Terminal bool     // a cell shows what a terminal does, in colours
	Left     []string // what isn't shown, the first of left
	left     int
	Made     made
	Previous *card
	Next     *card
}

// tocEntry is a line of the table of contents.
type tocEntry struct {
	Level string
	ID    string
	Text  template.HTML
}

type shownCell struct {
	Text, Code, Output   template.HTML // a Markdown cell has a text
	Hidden, HiddenOutput bool          // the text or the code, or the output, is folded
}

// Write writes the notebook and its results as one page that is complete in itself: text with its
// formulas as MathML, code, pictures, tables, and where all of it comes from. Errors among the
// results are shown; [Notebook.Failed] lists them. Scripts in outputs, and anything else that would
// run, load something or navigate by itself, are left out. Content that the page cannot show, such
// as a missing picture, is named in its place, at the page's end and in LeftOut. Write stops when
// ctx is done.
//
// A page has at most 20 bytes for each byte of the notebook and of the files beside it that it
// shows, and 1 MB more. A picture stands in it once, however often it is shown. Content that would
// exceed these bounds, or takes too much work, is shown as it was typed.
func (n *Notebook) Write(ctx context.Context, w io.Writer, o Origin) error {
	p, err := n.render(ctx, o, nil)
	if err != nil {
		return err
	}
	return templates.ExecuteTemplate(w, "notebook.gohtml", p)
}

// render renders the notebook as a page of a site, whose other pages are given, or of none.
func (n *Notebook) render(ctx context.Context, o Origin, site map[string]string) (*notebookPage, error) {
	p := &notebookPage{Made: o.made()}
	r := n.newRenderer(p, site)
	p.Made.Facts = append(p.Made.Facts, fact{Name: "kernel", Value: n.madeBy})
	p.Made.Files = []fact{{Name: shared(n.File), Value: n.SHA256}}
	for i := range n.cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.cell, r.at = &n.cells[i], i+1
		shown := r.atTheDoor()
		if m := paragraph.FindStringSubmatch(string(shown.Text)); m != nil && p.Description == "" {
			p.Description = textOf(m[1])
		}
		p.Terminal = p.Terminal || strings.Contains(string(shown.Text+shown.Output), "term-")
		if shown.Text+shown.Code+shown.Output != "" {
			p.Cells = append(p.Cells, shown)
		}
	}
	var pieces []*template.HTML
	for i := range p.Cells {
		pieces = append(pieces, &p.Cells[i].Text, &p.Cells[i].Output)
	}
	r.pictures.put(pieces...)
	if more := p.left - len(p.Left); more > 0 {
		p.Left = append(p.Left, fmt.Sprintf("and %d more", more))
	}
	n.LeftOut = p.Left
	if p.Title == "" {
		p.Title = strings.TrimSuffix(filepath.Base(n.File), filepath.Ext(n.File))
		p.Heading = template.HTML(html.EscapeString(p.Title))
	}
	return p, nil
}

var (
	tags      = regexp.MustCompile(`<[^>]*>`)
	paragraph = regexp.MustCompile(`(?s)<p>(.*?)</p>`)
)

// atTheDoor renders the cell at hand. It is the door for faults of the libraries that read
// Markdown, HTML, pictures and what terminals show: such a fault costs the cell its looks.
func (r *notebookRenderer) atTheDoor() (shown shownCell) {
	defer func() {
		if p := recover(); p != nil {
			shown = shownCell{Text: template.HTML(
				r.tooMuch(string(r.cell.Source), "its text", fmt.Sprintf("cannot be shown (%v)", p)))}
		}
	}()
	return r.renderCell()
}

// renderCell renders the cell at hand; nothing if nothing of it is to be seen.
func (r *notebookRenderer) renderCell() (shown shownCell) {
	c := r.cell
	source := string(c.Source)
	var shape *json.UnmarshalTypeError
	if errors.As(c.broken, &shape) {
		r.leave("key %q is a %s, which notebooks don't have there: it is left out", cmp.Or(shape.Field, "cell"), shape.Value)
	}
	if c.asks("remove", "cell") {
		r.leave("its author's tag removes it")
		return shown
	}
	meta := c.Metadata
	shown.Hidden = meta.Jupyter.SourceHidden || c.asks("hide", "input") || c.asks("hide", "cell")
	switch {
	case c.Type == "code":
		if c.asks("remove", "input") {
			r.leave("its author's tag removes its code")
		} else {
			shown.Code = coloured(source, r.notebook.language)
		}
		if c.asks("remove", "output") {
			r.leave("its author's tag removes its output")
		} else {
			shown.Output = r.renderOutputs()
		}
		shown.HiddenOutput = meta.Collapsed || meta.Jupyter.OutputsHidden || c.asks("hide", "output") ||
			c.asks("hide", "cell")
	case strings.TrimSpace(source) == "":
	case c.Type == "markdown":
		shown.Text = template.HTML(strings.TrimSpace(r.renderMarkdown(source)))
	default:
		shown.Text = template.HTML(r.raw(source))
	}
	return shown
}

// raw renders a cell that is for one format, or of an unknown type.
func (r *notebookRenderer) raw(source string) string {
	format := cmp.Or(r.cell.Metadata.MIMEType, r.cell.Metadata.Format, "text/plain")
	switch {
	case r.cell.Type != "raw":
		r.leave(`its type "%s" is unknown: its text is shown as it is`, short(string(r.cell.Type)))
	case format == "text/html":
		return r.text(source, source)
	case format == "text/markdown":
		return r.renderMarkdown(source)
	case format != "text/plain":
		r.leave("it is for %s: its text is shown as it is", short(string(format)))
	}
	return plain(source)
}

// takeHeading takes a heading in a text for the page's, if it is the first and a large one; else
// for the contents, if it is large.
func (r *notebookRenderer) takeHeading(level, id, github, words string) (taken bool) {
	if r.cell.Type == "code" || level > "3" {
		return false
	}
	p, shown := r.page, template.HTML(r.putFormulas(html.EscapeString(r.markFormulas(words))))
	if level > "1" || p.Heading != "" || p.Contents != nil {
		if !spend(&r.left.shown, 2*(len(id)+len(shown)+50)) {
			return false
		}
		p.Contents = append(p.Contents, tocEntry{level, id, shown})
		return false
	}
	names := fmt.Sprintf(`<a id="%s"></a><a id="%s"></a>`, html.EscapeString(id), html.EscapeString(github))
	p.Title, p.Heading = cut(textOf(string(shown)), 200), template.HTML(names)+shown
	p.Description = "" // badges may come before
	return true
}

// textOf is what is left of a piece of a page without its elements.
func textOf(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, ""))), " ")
}
