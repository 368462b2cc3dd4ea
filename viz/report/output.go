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
		o := &outputs[i]
		if r.cell.asks("remove", string(o.Stream)) || o.asks("remove", "single-output") {
			r.leave("an output that its author's tag removes")
			continue
		}
		switch o.Type {
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
	viz.MediaType, "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg", "image/gif",
	"image/webp",
	"image/avif", "image/bmp", "application/json", "application/vnd.jupyter.stdout", "application/vnd.jupyter.stderr",
	"text/plain",
}

// poorer are types that JupyterLab shows only where nothing but text is beside them.
var poorer = words("application/pdf application/javascript application/x-javascript application/ecmascript " +
	"text/javascript text/ecmascript")

// renderData renders the richest version of an output that a page can show, and names those that a
// front end would rather show.
func (r *notebookRenderer) renderData(o *output) string {
	before, rest := r.page.left, maps.Clone(o.Data)
	for _, media := range mediaTypes {
		text, ok := o.Data[media]
		if delete(rest, media); !ok {
			continue
		}
		if shown := r.show(o, media, string(text)); shown != "" {
			richer := slices.DeleteFunc(slices.Sorted(maps.Keys(rest)), func(other string) bool {
				return slices.Contains(mediaTypes, other) || poorer[other] && media != "text/plain" || media == viz.MediaType
			})
			if len(richer) > 0 && r.page.left == before {
				r.leave("an output of %s, which needs a running notebook: %s is shown", strings.Join(richer, ", "), media)
			}
			return shown
		}
	}
	if len(o.Data) == 0 {
		return ""
	}
	if r.page.left == before {
		r.leave("an output of %s, which needs a running notebook", strings.Join(slices.Sorted(maps.Keys(o.Data)), ", "))
	}
	return `<p class="note">(An output that needs a running notebook.)</p>`
}

// show renders what an output holds under a media type; nothing where it cannot, so that another is
// tried.
func (r *notebookRenderer) show(o *output, media, text string) string {
	before, shown := r.page.left, ""
	switch media {
	case viz.MediaType:
		return r.figure(text)
	case "text/html":
		return r.showHTML(o, text)
	case "text/markdown":
		return `<div class="md">` + r.renderMarkdown(text) + "</div>"
	case "application/json":
		return r.terminal("", indented(text))
	case "text/plain", "application/vnd.jupyter.stdout":
		return r.terminal("", text)
	case "application/vnd.jupyter.stderr":
		return r.terminal("stderr", text)
	case "text/latex": // text with formulas, or a formula
		typed := text
		if r.markFormulas(text) == text {
			text = "$$" + strings.TrimSpace(text) + "$$"
		}
		shown = "<p>" + r.sanitise(html.EscapeString(text), typed) + "</p>"
	default:
		shown = r.sanitise(o.picture(media, text), "")
	}
	if r.page.left > before && o.Data["text/plain"] != "" {
		return ""
	}
	return shown
}

// figure shows a figure of ours, whose data may come from anywhere.
func (r *notebookRenderer) figure(text string) string {
	if r.left.unpacked <= 0 {
		r.leave("a figure: the data of the page's figures are more than a page can hold")
		return ""
	}
	f, err := viz.ReadFrames([]byte(text)) // which checks it
	if err != nil {
		r.left.unpacked -= viz.MaxCells
		r.leave("a figure: %v", err)
		return ""
	}
	r.left.unpacked -= f.CellCount()
	shown := f.HTML()
	if !spend(&r.left.shown, len(shown)) {
		r.leave("a figure: the page would be too large")
		return ""
	}
	return shown
}

// showHTML shows what is left of HTML; nothing where that is nothing, and there is another version.
func (r *notebookRenderer) showHTML(o *output, text string) string {
	r.missed, r.inHTML = "", true
	shown := strings.TrimSpace(r.sanitise(text, text))
	r.inHTML = false
	if len(o.Data) > 1 && textOf(shown) == "" && !strings.Contains(shown, "<img") {
		if r.missed != "" && (shown != "" || !unseen[r.missed] || len(o.Data) == 2 && o.Data["text/plain"] != "") {
			r.leave("<%s> in an output: its text is shown", r.missed)
		}
		return ""
	}
	if alone := shown == "" && unseen[r.missed]; r.missed != "" && !alone { // of a script alone nobody saw anything
		r.leave("<%s> in an output", r.missed)
		needs := " that needs a running notebook"
		if r.missed == "style" {
			needs = ""
		}
		shown += fmt.Sprintf(`<p class="note">(A part of this%s, &lt;%s&gt;, was left out.)</p>`, needs, r.missed)
	}
	return `<div class="html">` + shortened.Replace(shown) + "</div>"
}

// indented writes each value of a JSON text on a line of its own. Values deeper than deepest are
// indented no further, or lines would grow with their depth.
func indented(text string) string {
	const deepest = 10
	var compact bytes.Buffer
	if json.Indent(&compact, []byte(text), "", "") != nil {
		return text
	}
	var out strings.Builder
	depth := 0
	for line := range strings.Lines(compact.String()) {
		if strings.HasPrefix(line, "]") || strings.HasPrefix(line, "}") {
			depth--
		}
		out.WriteString(strings.Repeat("  ", min(depth, deepest)) + line)
		if trimmed := strings.TrimSuffix(line, "\n"); strings.HasSuffix(trimmed, "[") || strings.HasSuffix(trimmed, "{") {
			depth++
		}
	}
	return out.String()
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
	return fmt.Sprintf(`<img%s alt="%s" src="%s">`, size, html.EscapeString(alt),
		html.EscapeString(dataAddress(media, text)))
}
