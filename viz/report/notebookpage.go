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
	more       int // than are told
}

// maxLeft is how much of what is left out is told; a text may be full of it.
const maxLeft = 50

// leave notes what the page cannot show of the cell at hand.
func (r *notebookRenderer) leave(format string, args ...any) {
	if len(r.left) == maxLeft {
		r.more++
		return
	}
	r.left = append(r.left, fmt.Sprintf("cell %d: ", r.at)+strings.Map(printable, fmt.Sprintf(format, args...)))
}

// formula renders a formula; one that KaTeX doesn't know is shown as it was typed.
func (r *notebookRenderer) formula(f formula) string {
	shown, err := r.typesetter.typeset(f.tex, f.display)
	if err != nil {
		r.leave(`formula "%s": %v`, short(f.tex), err)
		shown = `<code class="tex" title="` + html.EscapeString(err.Error()) + `">` + html.EscapeString(f.tex) + `</code>`
	}
	if f.display {
		return `<span class="eq">` + shown + "</span>"
	}
	return shown
}

// notebookPage is what the template shows.
type notebookPage struct {
	Title       string
	Heading     template.HTML
	Description string
	Contents    []tocEntry
	Cells       []shownCell
	Left        []string // what isn't shown
	Made        made
	Cite        citation
	Previous    *neighbour
	Next        *neighbour
	Site        bool
}

type neighbour struct{ Href, Title string }

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
// page's end, and listed by [Notebook.LeftOut]. Write stops when ctx is done.
func (n *Notebook) Write(ctx context.Context, w io.Writer, o Origin) error {
	page, err := n.page(ctx, o, nil)
	if err != nil {
		return err
	}
	return writePage(w, "notebook.gohtml", page)
}

// LeftOut lists what the last page of the notebook does not show as Jupyter does, such as "cell 3: picture "a.png": …".
func (n *Notebook) LeftOut() []string { return n.left }

// page renders the notebook as a page of a site, whose other pages are given, or of none.
func (n *Notebook) page(ctx context.Context, o Origin, site map[string]string) (*notebookPage, error) {
	r := &notebookRenderer{notebook: n, ids: headingIDs{"cite": 1}, site: site}
	p := &notebookPage{Made: o.made(), Cite: cite, Site: site != nil}
	p.Made.add("kernel", n.kernel)
	p.Made.Files = []inputFile{{shared(n.File), n.SHA256}}
	for i := range n.cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.cell, r.at = &n.cells[i], i+1
		if shown := r.renderCell(); shown != (shownCell{}) {
			p.Cells = append(p.Cells, shown)
		}
	}
	if r.more > 0 {
		r.left = append(r.left, fmt.Sprintf("and %d more", r.more))
	}
	n.left, p.Left = r.left, r.left
	p.takeHeading(strings.TrimSuffix(filepath.Base(n.File), filepath.Ext(n.File)))
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
		shown.Hidden, shown.HiddenOutput = c.Metadata.Jupyter.SourceHidden, c.Metadata.Jupyter.OutputsHidden
		shown.Code = r.code(source)
		shown.Output = r.renderOutputs(c)
	case strings.TrimSpace(source) == "":
	case c.Type == "markdown":
		shown.Text = template.HTML(r.renderMarkdown(source))
	case c.Type == "heading": // of format 3
		shown.Text = template.HTML(r.renderMarkdown(strings.Repeat("#", min(max(1, c.Level), 6)) + " " + source))
	case c.Type == "raw":
		shown.Text = template.HTML(r.raw(source))
	default:
		r.leave(`its type "%s" is unknown: its text is shown as it is`, short(string(c.Type)))
		shown.Text = template.HTML("<pre>" + html.EscapeString(source) + "</pre>")
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

// raw renders a cell that is for one format.
func (r *notebookRenderer) raw(source string) string {
	switch format := cmp.Or(r.cell.Metadata.MIMEType, r.cell.Metadata.Format); format {
	case "text/html":
		return r.sanitise(source).html
	case "text/markdown":
		return r.renderMarkdown(source)
	case "", "text/plain":
	default:
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

// takeHeading takes the first heading for the page's, and the paragraph after it for its description.
func (p *notebookPage) takeHeading(name string) {
	p.Title, p.Heading = name, template.HTML(html.EscapeString(name))
	var all strings.Builder
	titled := false
	for i := range p.Cells {
		text := string(p.Cells[i].Text)
		if m := headings.FindStringSubmatchIndex(text); m != nil && !titled {
			if titled = true; text[m[2]:m[3]] == "1" {
				p.Description = "" // badges may come before
				p.Heading = template.HTML(`<a id="` + text[m[4]:m[5]] + `"></a>` + text[m[6]:m[7]])
				p.Title = strings.TrimSpace(textOf(string(p.Heading)))
				text = text[:m[0]] + text[m[1]:]
				p.Cells[i].Text = template.HTML(text)
			}
		}
		if m := first.FindStringSubmatch(text); m != nil && p.Description == "" {
			p.Description = sentence(textOf(leadIn.ReplaceAllString(m[1], "")))
		}
		all.WriteString(text)
	}
	p.Contents = contents(all.String())
	p.Cells = slices.DeleteFunc(p.Cells, func(c shownCell) bool { return c == shownCell{Text: c.Text} && strings.TrimSpace(string(c.Text)) == "" })
}

// textOf is what is left of a piece of a page without its elements.
func textOf(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, ""))), " ")
}

// most is the length of a description, about two lines.
const most = 200

// sentence is the beginning of a text: its first sentence, or two if that is short.
func sentence(text string) string {
	end := 0
	for end < most/3 {
		next := strings.Index(text[end:], ". ")
		if next < 0 {
			end = len(text)
			break
		}
		end += next + 2
	}
	text = strings.TrimSpace(text[:end])
	if r := []rune(text); len(r) > most {
		text = string(r[:most])
		if space := strings.LastIndex(text, " "); space > 0 { // some languages have none
			text = text[:space+1]
		}
		text += "…"
	}
	return text
}
