package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/image/draw"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// indexPage is the site's first page.
type indexPage struct {
	Title string
	Cards []card
	Made  made
	Cite  citation
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
// picture and the first sentence of each. Links are relative: the folder can be moved, and opened
// without a server. It stops when ctx is done.
func Site(ctx context.Context, dir, title string, notebooks []*Notebook, o Origin) error {
	site, taken := map[string]string{}, map[string]string{IndexFile: "the site's index"}
	for _, n := range notebooks {
		name := filepath.Base(n.File)
		page := pageName(name)
		if other := taken[page]; other != "" {
			return fmt.Errorf("report: the page of %s would be %s, which is that of %s: rename it", n.File, page, other)
		}
		site[name], taken[page] = page, n.File
	}
	index := indexPage{Title: title, Made: o.made(), Cite: cite}
	var pages []*notebookPage
	var failed []error
	for _, n := range notebooks {
		p, err := n.page(ctx, o, site)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		pages = append(pages, p)
		index.Cards = append(index.Cards, card{
			Href: site[filepath.Base(n.File)], Title: p.Title, Description: p.Description, Picture: p.thumbnail(), Failed: n.Failed() != nil,
		})
		index.Made.Files = append(index.Made.Files, p.Made.Files...)
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for i, p := range pages {
		if i > 0 {
			p.Previous = &neighbour{index.Cards[i-1].Href, index.Cards[i-1].Title}
		}
		if i+1 < len(pages) {
			p.Next = &neighbour{index.Cards[i+1].Href, index.Cards[i+1].Title}
		}
		if err := writeTo(filepath.Join(dir, index.Cards[i].Href), "notebook.gohtml", p); err != nil {
			return err
		}
	}
	return writeTo(filepath.Join(dir, IndexFile), "index.gohtml", index)
}

// pageName is the page's file of a notebook's file.
func pageName(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ".html" }

func writeTo(path, name string, page any) error {
	return atomicfile.Write(path, func(w io.Writer) error { return writePage(w, name, page) })
}

var (
	drawings = regexp.MustCompile(`(?s)<figure class="pcl-figure".*?</figure>`)
	asked    = regexp.MustCompile(` data-(?:at|say|csv|x|y)="[^"]*"`) // what a card isn't asked
	pictures = regexp.MustCompile(`<img\b[^>]*?\bsrc="(data:image/([a-z+]+);base64,([^"]*))"`)
)

// thumbnailWidth is twice the pixels that a card's picture takes.
const thumbnailWidth = 560

// thumbnail is the first picture of the page in small; empty if there is none.
func (p *notebookPage) thumbnail() template.HTML {
	for _, c := range p.Cells {
		for _, part := range []template.HTML{c.Text, c.Output} {
			if drawing := drawings.FindString(string(part)); drawing != "" {
				return template.HTML(asked.ReplaceAllString(drawing, ""))
			}
			if m := pictures.FindStringSubmatch(string(part)); m != nil {
				return template.HTML(`<img alt="" src="` + thumbnail(m[1], m[2], m[3]) + `">`)
			}
		}
	}
	return ""
}

// thumbnail is a picture in small, or as it is where that can't be.
func thumbnail(uri, kind, base64Data string) string {
	if kind == "svg+xml" {
		return uri
	}
	data, err := base64.StdEncoding.DecodeString(base64Data)
	if err != nil {
		return uri
	}
	small, err := shrink(data)
	if err != nil {
		return uri
	}
	return imageURI("image/jpeg", small)
}

// shrink makes a JPEG of a picture, on white where it is transparent.
func shrink(data []byte) ([]byte, error) {
	large, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	size := large.Bounds().Size()
	if size.X > thumbnailWidth {
		size = image.Pt(thumbnailWidth, max(1, size.Y*thumbnailWidth/size.X))
	}
	small := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(small, small.Bounds(), image.White, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(small, small.Bounds(), large, large.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	err = jpeg.Encode(&b, small, &jpeg.Options{Quality: 85})
	return b.Bytes(), err
}
