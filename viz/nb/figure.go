package nb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image/png"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/viz"
)

// A notebook holds a figure as a picture and as a drawing, from which exported pages make a picture
// that answers to the pointer and takes the page's colours. Nothing is encoded outside of a
// notebook.

// showFigures shows figures below each other or, if they have labels, one of them by a slider,
// which begins with the one of a number. That one is the picture where neither SVG nor a page is
// shown.
func showFigures(id string, start int, labels []string, figures ...*viz.Figure) error {
	if !inNotebook() {
		return nil
	}
	shown := viz.DrawFrames(start, labels, figures...)
	data, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := figures[start].Encode(&picture, "png"); err != nil {
		return err
	}
	c, err := png.DecodeConfig(bytes.NewReader(picture.Bytes()))
	if err != nil {
		return err
	}
	// A picture has 144 pixels an inch, which the screen shows as 96; every front end and the
	// export to LaTeX read its size.
	size := map[string]any{"width": int(float64(c.Width)/1.5 + 0.5), "height": int(float64(c.Height)/1.5 + 0.5)}
	out := &protocol.DisplayData{
		Data: map[protocol.MIMEType]any{
			protocol.MIMEImagePNG: picture.Bytes(), protocol.MIMETextPlain: figures[start].Alt, viz.MediaType: string(data),
		},
		Metadata: map[string]any{string(protocol.MIMEImagePNG): size},
	}
	if len(figures) == 1 {
		out.Data[protocol.MIMEImageSVG] = string(shown.SVG(0))
	} else {
		out.Data[protocol.MIMETextHTML] = framesPage(shown, figures)
	}
	return send(out, id)
}

// framesPage is for notebooks, which do not draw the figures themselves.
func framesPage(shown *viz.Frames, figures []*viz.Figure) string {
	var pictures, names strings.Builder
	for i, f := range figures {
		hidden := "" // by a style, which notebooks that are not trusted keep; the attribute hidden they drop
		if shown.Labels != nil {
			if i != shown.Start {
				hidden = ` style="display:none"`
			}
			fmt.Fprintf(&names, `<span%s>%s</span>`, hidden, html.EscapeString(shown.Labels[i]))
		}
		fmt.Fprintf(&pictures, `<div%s><img style="max-width:100%%" alt="%s" src="data:image/svg+xml;base64,%s"></div>`,
			hidden, html.EscapeString(f.Alt), base64.StdEncoding.EncodeToString(shown.SVG(i)))
	}
	if shown.Labels == nil {
		return pictures.String()
	}
	return fmt.Sprintf(sliderPage, len(figures)-1, shown.Start, html.EscapeString(shown.Labels[shown.Start]),
		names.String(), pictures.String())
}
