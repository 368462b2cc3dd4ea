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

// How a figure stands in a page: drawings in light and dark and, if phones are thought of, wide and narrow, of
// which the reader sees the one that suits, and below them what can be saved. Drawings are SVG: sharp at
// any size, and smaller than pixels.

// pixels is the size of a length of a figure on the screen, of which an inch has 96 pixels: the text of a
// figure is then 12 pixels high and more.
func pixels(points float64) int { return int(points*96/72 + 0.5) }

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
	return report(f.show("", true))
}

// themed is a figure in light and, if dark is not nil, in dark, which is drawn when the page needs it.
type themed struct {
	light *viz.Figure
	dark  func() (*viz.Figure, error)
}

func drawThemed(draw Drawing) (themed, error) {
	light, err := drawn(draw, viz.Light)
	return themed{light, func() (*viz.Figure, error) { return drawn(draw, viz.Dark) }}, err
}

func drawn(draw Drawing, t *viz.Theme) (*viz.Figure, error) {
	f, err := draw(t)
	if err == nil && f == nil {
		err = errNoFigure
	}
	return f, err
}

// show shows the figure; the final one in all versions and with what can be saved.
func (t themed) show(id string, final bool) error {
	if !InNotebook() {
		return nil
	}
	page, err := t.page(final, final)
	if err != nil {
		return err
	}
	if final {
		return showFigure(t.light, page, id)
	}
	return showHTML(themeStyle+page, id)
}

// page is the figure as a piece of a page. With [themeStyle] the reader sees the version that suits the
// colours and the width of the page; where style sheets are dropped, the light wide one.
func (t themed) page(phones, save bool) (string, error) {
	light, err := widths(t.light, phones)
	if err != nil {
		return "", err
	}
	page := `<div class="pcl-figure"><div class="pcl-light">` + light + `</div>`
	if t.dark != nil {
		f, err := t.dark()
		if err != nil {
			return "", err
		}
		dark, err := widths(f, phones)
		if err != nil {
			return "", err
		}
		page += `<div class="pcl-dark" style="display:none">` + dark + `</div>`
	}
	if save {
		files, err := saveRow(t.light)
		if err != nil {
			return "", err
		}
		page += files
	}
	return page + `</div>`, nil
}

func widths(f *viz.Figure, phones bool) (string, error) {
	width, _ := f.Size()
	wide, err := drawing(f, "pcl-wide", fmt.Sprintf("width:%dpx;max-width:100%%", pixels(float64(width))))
	if err != nil || !phones {
		return wide, err
	}
	narrow, err := drawing(f.Narrow(), "pcl-narrow", "width:100%;display:none")
	return wide + narrow, err
}

// drawing is an SVG inside a page.
func drawing(f *viz.Figure, class, style string) (string, error) {
	var b bytes.Buffer
	if err := f.Encode(&b, "svg"); err != nil {
		return "", err
	}
	return fmt.Sprintf(`<img class="%s" style="%s" alt="%s" src="data:image/svg+xml;base64,%s">`,
		class, style, html.EscapeString(f.Alt), base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// saveRow offers the figure as files. The SVG is the picture above; PDF and the data's CSV lie in the page,
// the CSV compressed, and a script makes files of them. Where it cannot run the row is not shown.
func saveRow(f *viz.Figure) (string, error) {
	var pdf, table bytes.Buffer
	if err := f.Encode(&pdf, "pdf"); err != nil {
		return "", err
	}
	kinds := []string{"SVG", "PDF"}
	data := hiddenText("pcl-name", html.EscapeString(cmp.Or(f.Name, "figure"))) + hiddenText("pcl-pdf", base64.StdEncoding.EncodeToString(pdf.Bytes()))
	if len(f.Data.Head) > 0 {
		z, err := gzip.NewWriterLevel(&table, gzip.BestCompression)
		if err == nil {
			err = errors.Join(f.Encode(z, "csv"), z.Close())
		}
		if err != nil {
			return "", err
		}
		kinds = append(kinds, "CSV")
		data += hiddenText("pcl-csv", base64.StdEncoding.EncodeToString(table.Bytes()))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="pcl-save" style="display:none" onclick="%s">`, html.EscapeString(saveScript))
	for _, kind := range kinds {
		fmt.Fprintf(&b, `<button type="button" aria-label="Save the figure as %s">%s</button> `, kind, kind)
	}
	return b.String() + data + "</div>", nil
}

func hiddenText(class, text string) string {
	return fmt.Sprintf(`<span class="%s" style="display:none">%s</span>`, class, text)
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

// showFigure shows a page with a figure; where pages are not shown, and in LaTeX, it is the picture.
func showFigure(f *viz.Figure, page, id string) error {
	var data bytes.Buffer
	if err := f.Encode(&data, "png"); err != nil {
		return err
	}
	shown := picture(data.Bytes(), f.Alt)
	shown.Data[protocol.MIMETextHTML] = themeStyle + page
	return send(shown, id)
}
