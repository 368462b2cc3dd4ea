package report

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// indexPage is the site's first page.
type indexPage struct {
	Title string
	Cards []*card
	Made  made
}

// card is a notebook on it.
type card struct {
	Href, Title, Description string
	Picture                  template.HTML
	Failed                   bool
}

// IndexFile is the first page of a site.
const IndexFile = "index.html"

// Site writes a page for each notebook into a folder, and an index with the title, the first
// picture and the first paragraph of each. It returns their paths, the index first. Links are
// relative: the folder can be moved, and opened without a server. Site stops when ctx is done.
func Site(ctx context.Context, dir, title string, notebooks []*Notebook, o Origin) (written []string, err error) {
	site := map[string]string{}
	for _, n := range notebooks {
		name := filepath.Base(n.File)
		page := strings.TrimSuffix(name, filepath.Ext(name)) + ".html"
		if site[name] != "" || page == IndexFile {
			return nil, fmt.Errorf("report: %s would have the page of another, %s; want notebooks of different names",
				n.File, page)
		}
		site[name] = page
	}
	index := &indexPage{Title: title, Made: o.made()}
	var pages []*notebookPage
	for _, n := range notebooks {
		p, err := n.render(ctx, o, site)
		if err != nil {
			return written, err
		}
		p.Href, p.Picture, p.Failed = site[filepath.Base(n.File)], p.picture(), n.Failed() != nil
		pages, index.Cards = append(pages, p), append(index.Cards, &p.card)
		index.Made.Files = append(index.Made.Files, p.Made.Files...)
	}
	write := func(file, template string, page any) {
		written = append(written, filepath.Join(dir, file))
		err = errors.Join(err, atomicfile.Write(filepath.Join(dir, file), func(w io.Writer) error {
			return templates.ExecuteTemplate(w, template, page)
		}))
	}
	write(IndexFile, "index.gohtml", index)
	around := slices.Concat([]*card{nil}, index.Cards, []*card{nil})
	for i, p := range pages {
		p.Previous, p.Next = around[i], around[i+2]
		write(p.Href, "notebook.gohtml", p)
	}
	return written, err
}

var (
	firstPicture = regexp.MustCompile(`(?s)<figure class="pcl-figure".*?</figure>|<img\b[^>]* src="[^>]*>`)
	// asked are attributes that the script of a full page reads from the parts of a figure; a card
	// has no such script and leaves them out.
	asked = regexp.MustCompile(` data-(?:values|say|box|x|y|picture)=(?:"[^"]*"|'[^']*')`)
)

// picture is the first picture of the page; empty if there is none, or a large one: the index has
// all of them.
func (p *notebookPage) picture() template.HTML {
	const most = 400_000 // characters
	for _, c := range p.Cells {
		found := asked.ReplaceAllString(firstPicture.FindString(string(c.Text+c.Output)), "")
		if found != "" && len(found) < most {
			return template.HTML(found)
		}
	}
	return ""
}
