package nb

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/viz"
)

// How a figure stands in a page: drawings in light and dark, wide and, for phones, narrow, of which the reader sees the one
// that suits, and below them files to save. Drawings are SVG: sharp at any size, and smaller than pixels. Each is encoded
// once, and nothing is outside of a notebook.

// Drawing draws a figure in the colours of a theme.
type Drawing = func(*viz.Theme) (*viz.Figure, error)

// Themed shows a figure in the colours of the reader's screen, wide or, on a phone, narrow, with buttons below
// that save it as SVG, as PDF, and its data as CSV:
//
//	nb.Themed(func(t *viz.Theme) (*viz.Figure, error) { return viz.Timeline(t, run) })
//
// Outside a notebook the figure is made once, for its error, and not rendered.
func Themed(draw Drawing) error {
	f, err := drawThemed(draw)
	if err != nil {
		return report(err)
	}
	return report(f.show(""))
}

// themed is a figure in light and, if dark is not nil, in dark, which is drawn when the page needs it.
type themed struct {
	light *viz.Figure
	dark  func() (*viz.Figure, error)
}

func drawThemed(draw Drawing) (themed, error) {
	light, err := drawn(draw(viz.Light))
	return themed{light, func() (*viz.Figure, error) { return drawn(draw(viz.Dark)) }}, err
}

func drawn(f *viz.Figure, err error) (*viz.Figure, error) {
	if err == nil && f == nil {
		err = errors.New("nb: no figure to show")
	}
	return f, err
}

// show shows the figure in all versions and with what can be saved.
func (t themed) show(id string) error {
	if !inNotebook() {
		return nil
	}
	p := page{phones: true, save: true}
	p.figure(t)
	return p.send(t.light, id)
}

// page is a piece of a page in the making. With [themeStyle] the reader sees the version that suits the colours and the
// width of the page; where style sheets are dropped, the light wide one.
type page struct {
	strings.Builder
	phones, save bool // whether there are narrow drawings, and files to save
	err          error
}

func (p *page) figure(t themed) {
	p.WriteString(`<div class="pcl-figure"><div class="pcl-light">`)
	p.drawings(t.light)
	p.WriteString(`</div>`)
	if t.dark != nil {
		p.WriteString(`<div class="pcl-dark" style="display:none">`)
		f, err := t.dark()
		if p.err = cmp.Or(p.err, err); p.err == nil {
			p.drawings(f)
		}
		p.WriteString(`</div>`)
	}
	if p.save {
		p.files(t.light)
	}
	p.WriteString(`</div>`)
}

func (p *page) drawings(f *viz.Figure) {
	width, _ := f.Size()
	pixels := int(width*96/72 + 0.5) // of which an inch of a screen has 96: text is then 12 pixels high and more
	p.drawing(f, "pcl-wide", fmt.Sprintf("width:%dpx;max-width:100%%", pixels))
	if p.phones {
		p.drawing(f.Narrow(), "pcl-narrow", "width:100%;display:none")
	}
}

func (p *page) drawing(f *viz.Figure, class, style string) {
	fmt.Fprintf(p, `<img class="%s" style="%s" alt="%s" src="data:image/svg+xml;base64,%s">`, class, style, html.EscapeString(f.Alt), p.base64(p.encode(f, "svg")))
}

// encode keeps the first error.
func (p *page) encode(f *viz.Figure, format string) []byte {
	var b bytes.Buffer
	p.err = cmp.Or(p.err, f.Encode(&b, format))
	return b.Bytes()
}

func (p *page) base64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// files offers the figure as files. The SVG is the picture above; PDF and the data's CSV lie in the page, the CSV compressed,
// and a script makes files of them. Where it cannot run the row is not shown.
func (p *page) files(f *viz.Figure) {
	fmt.Fprintf(p, `<div class="pcl-save" style="display:none" onclick="%s">`, html.EscapeString(saveScript))
	p.button("SVG")
	p.button("PDF")
	if len(f.Data.Head) > 0 {
		p.button("CSV")
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression) // which is a level
		w.Write(p.encode(f, "csv"))                           // into memory
		w.Close()
		p.hidden("pcl-csv", p.base64(z.Bytes()))
	}
	p.hidden("pcl-name", html.EscapeString(cmp.Or(f.Name, "figure")))
	p.hidden("pcl-pdf", p.base64(p.encode(f, "pdf")))
	p.WriteString("</div>")
}

func (p *page) button(kind string) {
	fmt.Fprintf(p, `<button type="button" aria-label="Save the figure as %s">%s</button> `, kind, kind)
}

func (p *page) hidden(class, text string) {
	fmt.Fprintf(p, `<span class="%s" style="display:none">%s</span>`, class, text)
}

// send shows the page with a figure; where pages are not shown, and in LaTeX, it is the picture.
func (p *page) send(f *viz.Figure, id string) error {
	data := p.encode(f, "png")
	if p.err != nil {
		return p.err
	}
	shown := picture(data, f.Alt)
	shown.Data[protocol.MIMETextHTML] = themeStyle + p.String()
	return send(shown, id)
}

// saveScript saves what the button that was pressed says.
const saveScript = `var b=event.target,row=this;if(b.tagName!=='BUTTON')return;` +
	`var kind=b.textContent.toLowerCase(),get=function(c){return row.querySelector('.pcl-'+c).textContent},` +
	`code=kind==='svg'?row.parentNode.querySelector('.pcl-light .pcl-wide').src.split(',')[1]:get(kind),` +
	`bytes=Uint8Array.from(atob(code),function(c){return c.charCodeAt(0)}),` +
	`type={svg:'image/svg+xml',pdf:'application/pdf',csv:'text/csv'}[kind],file=new Blob([bytes],{type:type});` +
	`(kind==='csv'?new Response(file.stream().pipeThrough(new DecompressionStream('gzip')),{headers:{'Content-Type':type}}).blob():Promise.resolve(file)).then(function(f){` +
	`var a=document.createElement('a');a.href=window.URL.createObjectURL(f);a.download=get('name')+'.'+kind;` +
	`document.body.appendChild(a);a.click();a.remove();setTimeout(function(){window.URL.revokeObjectURL(a.href)},1000)})`

// themeStyle shows the dark version in dark JupyterLab and VS Code, the narrow one on phones, and what can be
// saved where scripts run. Exported pages have rules of their own.
const themeStyle = `<style>
body[data-jp-theme-light="false"] .pcl-light, body.vscode-dark .pcl-light { display: none }
body[data-jp-theme-light="false"] .pcl-dark, body.vscode-dark .pcl-dark { display: block !important }
@media screen and (max-width: 500px) { .pcl-wide { display: none } .pcl-narrow { display: block !important } }
@media screen and (scripting: enabled) { .pcl-save { display: block !important } }
.pcl-save button { font: inherit; font-size: 12px; color: inherit; opacity: .65; background: none; border: 0; padding: 0 .4em; text-decoration: underline; cursor: pointer }
.pcl-save button:hover, .pcl-save button:focus-visible { opacity: 1 }
</style>`
