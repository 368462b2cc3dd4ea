package nb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image/png"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/internal/script"
)

// A notebook holds a figure as a picture, as data, from which exported pages make the figures that
// they show, and as HTML that does the same in a front end that trusts the notebook: it answers to
// the pointer and takes the front end's colours. Nothing is encoded outside of a notebook.

// showFigures shows figures below each other or, if they have labels, one of them by a slider,
// which begins with the one of a number. That one is the picture where neither HTML nor a page is
// shown. Figures that change at once are still.
func showFigures(id string, start int, labels []string, still bool, figures ...*viz.Figure) error {
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
	page := outputPage(shown, figures)
	if still { // without the script, keys could not move what is wider than a phone
		page = strings.ReplaceAll(page, `<div class="pcl-row"`, `<div tabindex="0" class="pcl-row"`)
	} else {
		page += outputScript()
	}
	return send(&protocol.DisplayData{
		Data: map[protocol.MIMEType]any{
			protocol.MIMETextHTML: page, protocol.MIMEImagePNG: picture.Bytes(), protocol.MIMETextPlain: figures[start].Alt,
			viz.MediaType: string(data),
		},
		Metadata: map[string]any{string(protocol.MIMEImagePNG): size},
	}, id)
}

// outputPage has figures twice, of which one is seen. Front ends that do not trust a notebook take
// out style sheets and drawings of its HTML, but no style of an element and no picture.
func outputPage(shown *viz.Frames, figures []*viz.Figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="pcl-live"><style data-optional>%s</style>`, outputStyle)
	for i, f := range figures {
		if shown.Labels == nil || i == shown.Start {
			fmt.Fprintf(&b, `<img style="max-width:100%%" alt="%s" src="data:image/svg+xml;base64,%s">`,
				html.EscapeString(f.Alt), base64.StdEncoding.EncodeToString(shown.SVG(i)))
		}
	}
	fmt.Fprintf(&b, `<div style="display:none">%s</div></div>`, shown.HTML())
	return b.String()
}

// outputStyle follows the front end's theme: that of JupyterLab and of pages of nbconvert, or of VS
// Code.
var outputStyle = ".pcl-live{color-scheme:light;color:var(--ink);" + script.Colours() + ";\n" +
	"[data-jp-theme-light=false] &,.vscode-dark &,.vscode-high-contrast:not(.vscode-high-contrast-light) &" +
	"{color-scheme:dark}\n>img{display:none}>div{display:block!important}\n" + script.Style() + "}"

// outputScript makes the figures of the output in which it stands answer. It shares nothing with
// the scripts of other outputs, which may be older or go away.
var outputScript = sync.OnceValue(func() string {
	source := "\"use strict\";\n" + script.Source() + script.Keys + "leaveKeys(root);\n" +
		fmt.Sprintf("root.append(make(\"style\", { textContent: %q }));\n", ".pcl-live{"+script.Answers()+"}")
	return fmt.Sprintf(`<script data-optional>
(async root => {
%sconst outside = document.querySelector("body>.pcl-live") ?? document.body.appendChild(document.createElement("div"));
outside.className = "pcl-live";
const source = await unpack("%s").text();
const run = new Function("root", "outside", "view", "remember", "unpack", source);
run(root, outside, new URLSearchParams(), () => {}, unpack);
})(document.currentScript.parentElement.querySelector(".pcl-live"));
</script>`, script.Unpack, viz.Pack([]byte(source)))
})
