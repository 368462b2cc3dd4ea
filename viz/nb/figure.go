package nb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/viz"
)

// How a figure stands in a notebook: as a picture, and as the drawing from which exported pages make one that answers to a
// pointer and to the page's colours. Nothing is encoded outside of a notebook.

// showFigures shows figures below each other or, if they have labels, one of them by a slider, which begins with the one
// of a number. That one is the picture where neither SVG nor a page is shown.
func showFigures(id string, start int, labels []string, figures ...*viz.Figure) error {
	if !inNotebook() {
		return nil
	}
	shown := viz.Frames{Labels: labels, Start: start}
	var svgs [][]byte
	for _, f := range figures {
		d, err := f.Drawing()
		if err != nil {
			return err
		}
		var svg bytes.Buffer
		if err := f.Encode(&svg, "svg"); err != nil {
			return err
		}
		shown.Drawings, svgs = append(shown.Drawings, d), append(svgs, svg.Bytes())
	}
	data, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	var png bytes.Buffer
	if err := figures[start].Encode(&png, "png"); err != nil {
		return err
	}
	out := picture(png.Bytes(), figures[start].Alt)
	out.Data[viz.DrawingType] = string(data)
	if len(figures) == 1 {
		out.Data[protocol.MIMEImageSVG] = string(svgs[0])
	} else {
		out.Data[protocol.MIMETextHTML] = framesPage(start, labels, figures, svgs)
	}
	return send(out, id)
}

// framesPage is for notebooks, which do not draw the figures themselves.
func framesPage(start int, labels []string, figures []*viz.Figure, svgs [][]byte) string {
	var pictures, names strings.Builder
	for i, f := range figures {
		hidden := ""
		if labels != nil {
			hidden = hiddenUnless(i == start)
			fmt.Fprintf(&names, `<span%s>%s</span>`, hidden, html.EscapeString(labels[i]))
		}
		fmt.Fprintf(&pictures, `<div%s><img style="max-width:100%%" alt="%s" src="data:image/svg+xml;base64,%s"></div>`,
			hidden, html.EscapeString(f.Alt), base64.StdEncoding.EncodeToString(svgs[i]))
	}
	if labels == nil {
		return pictures.String()
	}
	return fmt.Sprintf(sliderPage, len(figures)-1, start, html.EscapeString(labels[start]), names.String(), pictures.String())
}
