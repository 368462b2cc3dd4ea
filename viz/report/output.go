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

// renderOutputs renders what a cell has shown.
func (r *notebookRenderer) renderOutputs(c *cell) template.HTML {
	var b strings.Builder
	for i := 0; i < len(c.Outputs); i++ {
		o := c.Outputs[i]
		if o.broken != nil {
			r.leave("output %d: %v", i+1, inKeys(o.broken))
		}
		switch o.Type {
		case "stream":
			var said strings.Builder
			said.WriteString(string(o.Text))
			for i+1 < len(c.Outputs) && c.Outputs[i+1].Type == "stream" && c.Outputs[i+1].Stream == o.Stream {
				i++
				said.WriteString(string(c.Outputs[i].Text))
			}
			class := "stdout"
			if o.Stream == "stderr" {
				class = "stderr"
			}
			if text := r.terminalHTML(said.String()); strings.TrimSpace(text) != "" {
				b.WriteString(folded(class, text))
			}
		case "error":
			b.WriteString(`<pre class="error">` + strings.TrimSpace(r.traceback(&o)) + "</pre>")
		case "display_data", "execute_result", "pyout":
			b.WriteString(r.renderData(&o))
		case "":
		default:
			r.leave(`an output of the unknown type "%s"`, short(string(o.Type)))
		}
	}
	return template.HTML(b.String())
}

// traceback is an error as the kernel tells it, in colours.
func (r *notebookRenderer) traceback(o *output) string {
	trace := make([]string, len(o.Traceback))
	for i, line := range o.Traceback {
		trace[i] = string(line)
	}
	text := strings.Join(trace, "\n")
	if message := plain(string(o.Message)); !strings.Contains(plain(text), message) {
		text = plain(string(o.Error)) + ": " + message + "\n" + text
	}
	return r.terminalHTML(text)
}

// mediaTypes are those that a page can show, the richest first, in JupyterLab's order.
var mediaTypes = []string{
	viz.DrawingType, "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp",
	"image/avif", "image/bmp", "image/tiff", "application/json", "text/plain",
}

// renderData renders the richest version of an output that a page can show.
func (r *notebookRenderer) renderData(o *output) string {
	before := len(r.left)
	for _, media := range mediaTypes {
		if text, ok := o.Data[media]; ok {
			if shown, ok := r.show(o, media, string(text)); ok {
				return shown
			}
		}
	}
	if len(o.Data) == 0 {
		return ""
	}
	if len(r.left) == before {
		r.leave("an output of %s, which needs a running notebook", strings.Join(slices.Sorted(maps.Keys(o.Data)), ", "))
	}
	return `<p class="note">(An output that needs a running notebook.)</p>`
}

// show renders what an output holds under a media type; false where it cannot, so that another is tried.
func (r *notebookRenderer) show(o *output, media, text string) (string, bool) {
	switch media {
	case viz.DrawingType:
		return r.showFigure(text)
	case "text/html":
		return r.showHTML(o, text)
	case "text/markdown":
		return `<div class="md">` + r.renderMarkdown(text) + "</div>", true
	case "text/latex":
		return r.showLaTeX(o, text)
	case "application/json":
		var indented bytes.Buffer
		if json.Indent(&indented, []byte(text), "", "  ") == nil {
			text = indented.String()
		}
		fallthrough
	case "text/plain":
		return folded("stdout", r.terminalHTML(text)), true
	}
	return r.showPicture(o, media, text)
}

// showFigure draws figures of package nb from their data, which it checks.
func (r *notebookRenderer) showFigure(text string) (string, bool) {
	f, err := viz.ReadFrames([]byte(text))
	if err != nil {
		r.leave("a figure: %v", err)
		return "", false
	}
	return f.HTML(), true
}

func (r *notebookRenderer) showHTML(o *output, text string) (string, bool) {
	var found formulas
	shown := r.sanitise(found.placeInHTML(noPlaces.Replace(text)))
	if !shown.shows && (len(o.Data) > 1 || shown.missed == "") {
		return "", len(o.Data) == 1
	}
	out := `<div class="html">` + found.put(shown.html, r.formula)
	if shown.missed != "" {
		r.leave("<%s> in an output", shown.missed)
		out += fmt.Sprintf(`<p class="note">(A part of this that needs a running notebook, &lt;%s&gt;, was left out.)</p>`, shown.missed)
	}
	return out + "</div>", true
}

// showLaTeX shows text with formulas, or a formula; neither if one is not understood and the output has a text.
func (r *notebookRenderer) showLaTeX(o *output, text string) (string, bool) {
	var found formulas
	escaped := found.placeInHTML(html.EscapeString(noPlaces.Replace(text)))
	if len(found) == 0 {
		escaped = found.place(formula{tex: strings.TrimSpace(text), display: true})
	}
	before := len(r.left)
	shown := `<p>` + found.put(escaped, r.formula) + "</p>"
	if len(r.left) > before && o.Data["text/plain"] != "" {
		r.left = r.left[:before]
		return "", false
	}
	return shown, true
}

// folded is a text, of which a reader sees the first lines if there are many.
func folded(class, shown string) string {
	const most, begin = 60, 30
	lines := strings.SplitAfter(shown, "\n")
	if len(lines) <= most {
		return `<pre class="` + class + `">` + shown + "</pre>"
	}
	return `<pre class="` + class + `">` + strings.Join(lines[:begin], "") + "</pre>" +
		fmt.Sprintf(`<details class="more"><summary>%d more lines</summary><pre class="%s">%s</pre></details>`, len(lines)-begin, class, strings.Join(lines[begin:], ""))
}

// showPicture shows an image at the size that the notebook gives it, on white: it may be made for that.
func (r *notebookRenderer) showPicture(o *output, media, text string) (string, bool) {
	uri, err := mediaURI(media, text)
	if err != nil {
		r.leave("the %s of an output: %v", short(media), err)
		return "", false
	}
	var about struct {
		Width float64
		Alt   string
	}
	style := ""
	if json.Unmarshal(o.Metadata[media], &about); about.Width > 0 {
		style = fmt.Sprintf(` style="width:%gpx"`, about.Width)
	}
	alt := cmp.Or(about.Alt, strings.TrimSpace(string(o.Data["text/plain"])))
	return fmt.Sprintf(`<img%s alt="%s" src="%s">`, style, html.EscapeString(alt), uri), true
}
