package report

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"
	"unicode"

	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/report/internal/tex"
)

// renderOutputs renders what a cell has shown.
func (r *notebookRenderer) renderOutputs(c *cell) (template.HTML, error) {
	var b strings.Builder
	for i := 0; i < len(c.Outputs); i++ {
		o := c.Outputs[i]
		switch o.Type {
		case "stream":
			var said strings.Builder
			said.WriteString(string(o.Text))
			for i+1 < len(c.Outputs) && c.Outputs[i+1].Type == "stream" && c.Outputs[i+1].Stream == o.Stream {
				i++
				said.WriteString(string(c.Outputs[i].Text))
			}
			if text := plain(said.String()); strings.TrimSpace(text) != "" {
				fmt.Fprintf(&b, `<pre class="%s">%s</pre>`, streamClass(o.Stream), html.EscapeString(text))
			}
		case "error":
			text := plain(strings.Join(o.Traceback, "\n"))
			if message := plain(o.Message); !strings.Contains(text, message) {
				text = plain(o.Error) + ": " + message + "\n" + text
			}
			fmt.Fprintf(&b, `<pre class="error">%s</pre>`, html.EscapeString(strings.TrimSpace(text)))
		case "display_data", "execute_result":
			shown, err := r.renderData(c, &o)
			if err != nil {
				return "", err
			}
			b.WriteString(shown)
		}
	}
	return template.HTML(b.String()), nil
}

func streamClass(name string) string {
	if name == "stderr" {
		return "stderr"
	}
	return "stdout"
}

// renderData renders the richest version of an output that a page can show.
func (r *notebookRenderer) renderData(c *cell, o *output) (string, error) {
	if shown, ok := showFigure(string(o.Data[viz.DrawingType])); ok {
		return shown, nil
	}
	for _, media := range []string{"text/html", "image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp", "text/markdown", "text/latex", "text/plain"} {
		data, ok := o.Data[media]
		if !ok {
			continue
		}
		text := string(data)
		switch media {
		case "text/html":
			shown, err := r.sanitise(c, text, outputPolicy, nil)
			return `<div class="html">` + shown + "</div>", err
		case "text/markdown":
			shown, err := r.renderMarkdown(c, text)
			return `<div class="md">` + shown + "</div>", err
		case "text/latex":
			return latex(text)
		case "text/plain":
			return `<pre class="stdout">` + html.EscapeString(plain(text)) + "</pre>", nil
		default:
			uri, err := mediaURI(media, text)
			if err != nil {
				return "", fmt.Errorf("the %s of an output: %w", media, err)
			}
			return o.picture(uri, media), nil
		}
	}
	if len(o.Data) == 0 {
		return "", nil
	}
	return `<p class="note">(An output that needs a running notebook.)</p>`, nil
}

// picture is an image at the size that the notebook gives it, on white: it may be made for that.
func (o *output) picture(uri, media string) string {
	var size struct{ Width float64 }
	style := ""
	if json.Unmarshal(o.Metadata[media], &size) == nil && size.Width > 0 {
		style = fmt.Sprintf(` style="width:%gpx"`, size.Width)
	}
	return fmt.Sprintf(`<img%s alt="%s" src="%s">`, style, html.EscapeString(strings.TrimSpace(string(o.Data["text/plain"]))), uri)
}

// latex renders an output in TeX's notation, which brings its dollars along.
func latex(text string) (string, error) {
	text = strings.TrimSpace(text)
	for _, d := range []string{"$$", "$"} {
		if inner, ok := strings.CutPrefix(text, d); ok {
			text = strings.TrimSuffix(inner, d)
			break
		}
	}
	xml, err := tex.MathML(text, true)
	return `<span class="eq">` + xml + "</span>", err
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

// plain is what a terminal would show in the end: no colours, of a line that was written over the
// last version, and nothing that a terminal takes for a command.
func plain(text string) string {
	text = strings.ReplaceAll(escapes.ReplaceAllString(text, ""), "\r\n", "\n")
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && !strings.ContainsRune("\n\t\r\b", c) {
			return -1
		}
		return c
	}, text)
	if !strings.ContainsAny(text, "\r\b") {
		return text
	}
	all := strings.Split(text, "\n")
	for i, line := range all {
		var shown []rune
		at := 0
		for _, c := range line {
			switch {
			case c == '\r':
				at = 0
			case c == '\b':
				at = max(0, at-1)
			case at < len(shown):
				shown[at] = c
				at++
			default:
				shown = append(shown, c)
				at++
			}
		}
		all[i] = strings.TrimRight(string(shown), " ")
	}
	return strings.Join(all, "\n")
}
