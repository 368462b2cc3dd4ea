package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// renderOutputs renders what the cell at hand has shown.
func (r *notebookRenderer) renderOutputs() template.HTML {
	var b, said strings.Builder
	outputs := r.cell.outputs
	for i := range outputs {
		switch o := &outputs[i]; o.Type {
		case "stream":
			said.WriteString(string(o.Text))
			if i+1 < len(outputs) && outputs[i+1].Type == "stream" && outputs[i+1].Stream == o.Stream {
				continue // it goes on
			}
			if strings.TrimSpace(said.String()) != "" {
				b.WriteString(r.terminal(o.Stream, said.String()))
			}
			said.Reset()
		case "error":
			b.WriteString(`<pre class="error">` + strings.TrimSpace(r.traceback(o)) + "</pre>")
		case "display_data", "execute_result":
			b.WriteString(r.renderData(o))
		case "":
		default:
			r.leave(`an output of the unknown type "%s"`, short(string(o.Type)))
		}
	}
	return template.HTML(b.String())
}

// traceback is an error as the kernel tells it, in colours.
func (r *notebookRenderer) traceback(o *output) string {
	text := strings.Join(o.Traceback, "\n")
	if message := string(o.Message); !strings.Contains(text, message) {
		text = string(o.Error) + ": " + message + "\n" + text
	}
	return r.terminalHTML(text)
}

// mediaTypes are those that a page can show, the richest first, in JupyterLab's order.
var mediaTypes = []string{
	viz.DrawingType, "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp",
	"image/avif", "image/bmp", "application/json", "text/plain",
}

// renderData renders the richest version of an output that a page can show.
func (r *notebookRenderer) renderData(o *output) string {
	before := len(r.page.Left)
	for _, media := range mediaTypes {
		if text, ok := o.Data[media]; ok {
			if shown := r.show(o, media, string(text)); shown != "" {
				return shown
			}
		}
	}
	if len(o.Data) == 0 {
		return ""
	}
	if len(r.page.Left) == before {
		r.leave("an output of %s, which needs a running notebook", strings.Join(slices.Sorted(maps.Keys(o.Data)), ", "))
	}
	return `<p class="note">(An output that needs a running notebook.)</p>`
}

// show renders what an output holds under a media type; nothing where it cannot, so that another is tried.
func (r *notebookRenderer) show(o *output, media, text string) string {
	before, shown := len(r.page.Left), ""
	switch media {
	case viz.DrawingType:
		f, err := viz.ReadFrames([]byte(text)) // which checks it
		if err != nil {
			r.leave("a figure: %v", err)
			return ""
		}
		return f.HTML()
	case "text/html":
		return r.showHTML(o, text)
	case "text/markdown":
		return `<div class="md">` + r.renderMarkdown(text) + "</div>"
	case "application/json", "text/plain":
		var indented bytes.Buffer
		if media != "text/plain" && json.Indent(&indented, []byte(text), "", "  ") == nil {
			text = indented.String()
		}
		return r.terminal("", text)
	case "text/latex": // text with formulas, or a formula
		if r.markFormulas(text) == text {
			text = "$$" + strings.TrimSpace(text) + "$$"
		}
		shown = "<p>" + r.sanitise(html.EscapeString(text)) + "</p>"
	default:
		shown = r.sanitise(o.picture(media, text))
	}
	if len(r.page.Left) > before && o.Data["text/plain"] != "" {
		return ""
	}
	return shown
}

// showHTML shows what is left of HTML; nothing where that is nothing, and there is another version.
func (r *notebookRenderer) showHTML(o *output, text string) string {
	r.missed = ""
	shown := strings.TrimSpace(r.sanitise(text))
	if len(o.Data) > 1 && textOf(shown) == "" && !strings.Contains(shown, "<img") {
		return ""
	}
	if alone := shown == "" && r.missed == "script"; r.missed != "" && !alone { // of a script alone nobody saw anything
		r.leave("<%s> in an output", r.missed)
		shown += fmt.Sprintf(`<p class="note">(A part of this that needs a running notebook, &lt;%s&gt;, was left out.)</p>`, r.missed)
	}
	return `<div class="html">` + shortened.Replace(shown) + "</div>"
}

// shortened writes the styles that every cell of a table may have as classes.
var shortened = strings.NewReplacer(
	`<td style="text-align: left"`, `<td class=l`, `<td style="text-align: right"`, `<td class=r`,
	`<th style="text-align: left"`, `<th class=l`, `<th style="text-align: right"`, `<th class=r`,
)

// picture is an image at the size that the notebook gives it.
func (o *output) picture(media, text string) string {
	var about struct {
		Width float64
		Alt   string
	}
	size := ""
	if json.Unmarshal(o.Metadata[media], &about); about.Width > 0 {
		size = fmt.Sprintf(` style="width:%gpx"`, about.Width)
	}
	alt := cmp.Or(about.Alt, strings.TrimSpace(string(o.Data["text/plain"])))
	return fmt.Sprintf(`<img%s alt="%s" src="%s">`, size, html.EscapeString(alt), html.EscapeString(dataAddress(media, text)))
}
