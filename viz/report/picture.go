package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// picture returns a figure in four versions, of which the style sheet shows the one that suits the
// screen: light or dark, wide or narrow. Paper gets the wide light one. (Browsers do not choose a
// <picture>'s source anew for print, so it would not do.) Those that are not shown are not drawn.
func picture(draw func(*viz.Theme) (*viz.Figure, error)) (template.HTML, error) {
	light, err := draw(viz.Light)
	if err != nil {
		return "", err
	}
	dark, err := draw(viz.Dark)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, v := range []struct {
		class string
		fig   *viz.Figure
	}{{"wl", light}, {"wd", dark}, {"nl", light.Narrow()}, {"nd", dark.Narrow()}} {
		uri, err := dataURI(v.fig)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, `<img loading="lazy" class="%s"%s alt="%s" src="%s">`, v.class, widthOf(v.fig), html.EscapeString(v.fig.Alt), uri)
	}
	return template.HTML(b.String()), nil
}

// widthOf keeps a figure that is less wide than most from filling the page; narrow ones fill it.
func widthOf(fig *viz.Figure) string {
	const most, narrow = 600, 300
	width, _ := fig.Size()
	if width <= narrow || width >= most {
		return ""
	}
	return fmt.Sprintf(` style="width:%.0f%%"`, 100*float64(width)/most)
}

func dataURI(fig *viz.Figure) (string, error) {
	var buf bytes.Buffer
	if err := fig.Encode(&buf, "svg"); err != nil {
		return "", err
	}
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(buf.Bytes()), nil
}
