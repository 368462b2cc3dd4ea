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
	"slices"
	"strings"
)

// notebookRenderer renders the cells of one notebook.
type notebookRenderer struct {
	notebook   *Notebook
	ids        headingIDs
	site       map[string]string // pages by the notebooks that links name
	typesetter typesetter
	cell       *cell // at hand
	at         int   // its number, from 1
	left       []string
	missed     string // the first element that was left out and a reader would miss
}

// leave notes what the page cannot show of the cell at hand. A text may be full of it.
func (r *notebookRenderer) leave(format string, args ...any) {
	const most = 50
	switch {
	case len(r.left) < most:
		r.left = append(r.left, fmt.Sprintf("cell %d: ", r.at)+strings.Map(printable, fmt.Sprintf(format, args...)))
	case len(r.left) == most:
		r.left = append(r.left, fmt.Sprintf("and more, from cell %d on", r.at))
	}
}

// short is a text as a message has it.
func short(text string) string {
	const most = 80
	r := []rune(strings.Join(strings.Fields(strings.Map(printable, text)), " "))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}

// notebookPage is what the template shows.
type notebookPage struct {
	card
	Heading  template.HTML
	Contents []tocEntry
	Cells    []shownCell
	Left     []string // what isn't shown
	Made     made
	Cite     citation
	Previous *card
	Next     *card
	Site     bool
}

// tocEntry is a line of the table of contents.
type tocEntry struct {
	Level string
	ID    string
	Text  template.HTML
}

type shownCell struct {
	Text   template.HTML // of a Markdown cell
	Code   template.HTML // of a code cell
	Hidden bool          // its code is folded
	Output template.HTML

	HiddenOutput bool // its output is folded
}

// Write writes the notebook and its results as one page that is complete in itself: text with its formulas as
// MathML, code, pictures, tables, and where all of it comes from. Errors among the results are shown;
// [Notebook.Failed] lists them. Scripts in outputs, and anything else that would run, load something or navigate by
// itself, are left out. What the page cannot show, such as a picture that is missing, is named in its place and at the
// page's end, and in LeftOut. Write stops when ctx is done.
func (n *Notebook) Write(ctx context.Context, w io.Writer, o Origin) error {
	page, err := n.page(ctx, o, nil)
	if err != nil {
		return err
	}
	return writePage(w, "notebook.gohtml", page)
}

// page renders the notebook as a page of a site, whose other pages are given, or of none.
func (n *Notebook) page(ctx context.Context, o Origin, site map[string]string) (*notebookPage, error) {
	r := &notebookRenderer{notebook: n, ids: headingIDs{"cite": 1}, site: site}
	p := &notebookPage{Made: o.made(), Cite: cite, Site: site != nil}
	p.Made.add("kernel", n.madeBy)
	p.Made.Files = []inputFile{{shared(n.File), n.SHA256}}
	for i := range n.cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.cell, r.at = &n.cells[i], i+1
		p.Cells = append(p.Cells, r.renderCell())
	}
	n.LeftOut, p.Left = r.left, r.left
	p.takeHeading(strings.TrimSuffix(filepath.Base(n.File), filepath.Ext(n.File)))
	p.Cells = slices.DeleteFunc(p.Cells, func(c shownCell) bool { return c == shownCell{} })
	return p, nil
}

// renderCell renders the cell at hand; nothing if nothing of it is to be seen.
func (r *notebookRenderer) renderCell() (shown shownCell) {
	c := r.cell
	source := string(c.Source)
	if c.broken != nil {
		r.leave("%v", inKeys(c.broken))
	}
	switch {
	case c.Type == "code":
		shown.Code, shown.Output = r.code(source), r.renderOutputs()
		shown.Hidden, shown.HiddenOutput = c.Metadata.Jupyter.SourceHidden, c.Metadata.Jupyter.OutputsHidden
	case strings.TrimSpace(source) == "":
	case c.Type == "markdown":
		shown.Text = template.HTML(r.renderMarkdown(source))
	default:
		shown.Text = template.HTML(r.raw(source))
	}
	return shown
}

// code is the source of a cell, in colours if it is Go.
func (r *notebookRenderer) code(source string) template.HTML {
	if l := r.notebook.language; strings.TrimSpace(source) != "" && (l == "go" || l == "") {
		return colourGo(source)
	}
	return template.HTML(html.EscapeString(strings.TrimSpace(source)))
}

// raw renders a cell that is for one format, or of an unknown type.
func (r *notebookRenderer) raw(source string) string {
	format := cmp.Or(r.cell.Metadata.MIMEType, r.cell.Metadata.Format, "text/plain")
	switch {
	case r.cell.Type != "raw":
		r.leave(`its type "%s" is unknown: its text is shown as it is`, short(string(r.cell.Type)))
	case format == "text/html":
		return r.sanitise(source)
	case format == "text/markdown":
		return r.renderMarkdown(source)
	case format != "text/plain":
		r.leave("it is for %s: its text is shown as it is", short(string(format)))
	}
	return "<pre>" + html.EscapeString(source) + "</pre>"
}

// inKeys is an error of reading a cell in the words of notebooks.
func inKeys(err error) error {
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) {
		return fmt.Errorf("key %q is a %s, which notebooks don't have there: it is left out", cmp.Or(shape.Field, "cell"), shape.Value)
	}
	return err
}

// takeHeading takes the first heading for the page's, if it is a large one, the others for the contents, and the first paragraph
// for the description.
func (p *notebookPage) takeHeading(name string) {
	for i := range p.Cells {
		text := string(p.Cells[i].Text)
		for _, m := range headings.FindAllStringSubmatch(text, -1) {
			whole, level, id, words := m[0], m[1], m[2], m[3]
			if level == "1" && p.Title == "" && p.Contents == nil {
				p.Title, p.Heading = textOf(words), template.HTML(`<a id="`+id+`"></a>`+words)
				p.Description = "" // badges may come before
				text = strings.Replace(text, whole, "", 1)
				continue
			}
			p.Contents = append(p.Contents, tocEntry{level, html.UnescapeString(id), template.HTML(anchors.ReplaceAllString(words, ""))})
		}
		if m := first.FindStringSubmatch(text); m != nil && p.Description == "" {
			p.Description = textOf(m[1])
		}
		p.Cells[i].Text = template.HTML(strings.TrimSpace(text))
	}
	if p.Title == "" {
		p.Title, p.Heading = name, template.HTML(html.EscapeString(name))
	}
}

// textOf is what is left of a piece of a page without its elements.
func textOf(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, ""))), " ")
}
