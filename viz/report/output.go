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
				b.WriteString(`<pre class="` + class + `">` + text + "</pre>")
			}
		case "error":
			b.WriteString(`<pre class="error">` + strings.TrimSpace(r.traceback(&o)) + "</pre>")
		case "display_data", "execute_result", "pyout":
			b.WriteString(r.renderData(&o))
		case "":
		default:
			r.leave("an output of the unknown type %q", short(string(o.Type)))
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

// showers render what an output holds under a media type; false where they cannot, so that another is tried.
var showers = map[string]func(*notebookRenderer, *output, string) (string, bool){
	"text/html":        (*notebookRenderer).showHTML,
	"text/markdown":    (*notebookRenderer).showMarkdown,
	"text/latex":       (*notebookRenderer).showLaTeX,
	"application/json": (*notebookRenderer).showJSON,
	"text/plain":       (*notebookRenderer).showText,
}

// richest are the media types, the richest first, with every picture between LaTeX and JSON.
var richest = []string{"text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg"}

// mediaTypes are those of an output in the order in which they are tried.
func (o *output) mediaTypes() []string {
	rank := func(media string) int {
		at := slices.Index(richest, media)
		switch {
		case media == figureMedia:
			return -1
		case at >= 0:
			return at
		case strings.HasPrefix(media, "image/"):
			return len(richest)
		case media == "text/plain":
			return len(richest) + 2
		}
		return len(richest) + 1
	}
	return slices.SortedFunc(maps.Keys(o.Data), func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
}

// figureMedia is the type of our own figures' data.
const figureMedia = "application/vnd.parallelcl.figure+json"

// renderData renders the richest version of an output that a page can show.
func (r *notebookRenderer) renderData(o *output) string {
	before := len(r.left)
	for _, media := range o.mediaTypes() {
		show := showers[media]
		if strings.HasPrefix(media, "image/") {
			show = func(r *notebookRenderer, o *output, text string) (string, bool) { return r.showPicture(o, media, text) }
		}
		if show == nil {
			continue
		}
		if shown, ok := show(r, o, string(o.Data[media])); ok {
			return shown
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

func (r *notebookRenderer) showHTML(o *output, text string) (string, bool) {
	var found formulas
	shown := r.sanitise(found.placeInHTML(noPlaces.Replace(text)))
	if !shown.shows && len(o.Data) > 1 || !shown.shows && shown.missed == "" {
		return "", shown.missed == ""
	}
	out := `<div class="html">` + found.put(shown.html, r.formula)
	if shown.missed != "" {
		r.leave("<%s> in an output", shown.missed)
		out += fmt.Sprintf(`<p class="note">(A part of this that needs a running notebook, &lt;%s&gt;, was left out.)</p>`, shown.missed)
	}
	return out + "</div>", true
}

func (r *notebookRenderer) showMarkdown(_ *output, text string) (string, bool) {
	return `<div class="md">` + r.renderMarkdown(text) + "</div>", true
}

// showLaTeX shows text with formulas, or a formula.
func (r *notebookRenderer) showLaTeX(o *output, text string) (string, bool) {
	var found formulas
	escaped := found.placeInHTML(html.EscapeString(noPlaces.Replace(text)))
	if len(found) == 0 {
		escaped = found.place(formula{tex: strings.TrimSpace(text), display: true})
	}
	for _, f := range found {
		if _, err := r.typesetter.typeset(f.tex, f.display); err != nil && o.Data["text/plain"] != "" {
			return "", false
		}
	}
	return `<p>` + found.put(escaped, r.formula) + "</p>", true
}

func (r *notebookRenderer) showJSON(_ *output, text string) (string, bool) {
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(text), "", "  ") == nil {
		text = indented.String()
	}
	return r.showText(nil, text)
}

func (r *notebookRenderer) showText(_ *output, text string) (string, bool) {
	return `<pre class="stdout">` + r.terminalHTML(text) + "</pre>", true
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
