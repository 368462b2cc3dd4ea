package report

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"
)

// notebookRenderer renders the cells of one notebook.
type notebookRenderer struct {
	notebook *Notebook
	ids      headingIDs
	site     map[string]string // pages by the notebooks that links name
}

// notebookPage is what the template shows.
type notebookPage struct {
	Title       string
	Heading     template.HTML
	Description string
	Contents    []tocEntry
	Cells       []shownCell
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
}

// Write writes the notebook and its results as one page that is complete in itself: text with its formulas as
// MathML, code, pictures, tables, and where all of it comes from. Errors among the results are shown;
// [Notebook.Failed] lists them. If cells cannot be shown, because of an unknown formula or a picture that is
// missing or lies outside the notebook's folder, the returned error names them. Scripts in outputs, and
// anything else that would run, load something or navigate by itself, are left out. Write stops when ctx is
// done.
func (n *Notebook) Write(ctx context.Context, w io.Writer, o Origin) error {
	page, err := n.page(ctx, o, nil)
	if err != nil {
		return err
	}
	return writePage(w, "notebook.gohtml", page)
}

// page renders the notebook as a page of a site, whose other pages are given, or of none.
func (n *Notebook) page(ctx context.Context, o Origin, site map[string]string) (*notebookPage, error) {
	r := &notebookRenderer{notebook: n, ids: headingIDs{}, site: site}
	p := &notebookPage{Made: o.made(), Cite: cite, Site: site != nil}
	p.Made.add("kernel", n.kernel)
	p.Made.Files = []inputFile{{shared(n.File), n.SHA256}}
	var failed mistakes
	for i := range n.cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &n.cells[i]
		shown, err := r.cell(c)
		if err != nil {
			failed.add(fmt.Errorf("report: %s: cell %d: %w", n.File, i+1, err))
		}
		if shown != nil {
			p.Cells = append(p.Cells, *shown)
		}
	}
	if err := failed.err(); err != nil {
		return nil, err
	}
	p.takeHeading(strings.TrimSuffix(filepath.Base(n.File), filepath.Ext(n.File)))
	return p, nil
}

// cell renders a cell; nil if nothing of it is to be seen.
func (r *notebookRenderer) cell(c *cell) (*shownCell, error) {
	source := string(c.Source)
	if strings.TrimSpace(source) == "" {
		return nil, nil
	}
	switch c.Type {
	case "markdown":
		text, err := r.renderMarkdown(c, source)
		return &shownCell{Text: template.HTML(text)}, err
	case "code":
		shown := &shownCell{Hidden: c.Metadata.Jupyter.SourceHidden}
		if l := r.notebook.language; l == "go" || l == "" {
			shown.Code = colourGo(source)
		} else {
			shown.Code = template.HTML(template.HTMLEscapeString(source))
		}
		var err error
		shown.Output, err = r.renderOutputs(c)
		return shown, err
	}
	return nil, nil // raw cells are for other formats
}

// takeHeading takes the first heading for the page's, and the paragraph after it for its description.
func (p *notebookPage) takeHeading(name string) {
	p.Title, p.Heading = name, template.HTML(template.HTMLEscapeString(name))
	var all strings.Builder
	for i := range p.Cells {
		text := string(p.Cells[i].Text)
		if i == 0 {
			if m := headings.FindStringSubmatchIndex(text); m != nil && text[m[2]:m[3]] == "1" {
				p.Heading = template.HTML(text[m[6]:m[7]])
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
	for len(p.Cells) > 0 && p.Cells[0] == (shownCell{Text: p.Cells[0].Text}) && strings.TrimSpace(string(p.Cells[0].Text)) == "" {
		p.Cells = p.Cells[1:]
	}
}

// textOf is what is left of a piece of a page without its elements.
func textOf(html string) string {
	return strings.Join(strings.Fields(unescape.Replace(tags.ReplaceAllString(html, ""))), " ")
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&amp;", "&")

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
