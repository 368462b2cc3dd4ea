package nb

import (
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// Drawing draws a figure in the colours of a theme.
type Drawing = func(*viz.Theme) (*viz.Figure, error)

// Themed shows a figure in the versions that [versions] makes:
//
//	nb.Themed(func(t *viz.Theme) (*viz.Figure, error) { return viz.Timeline(t, run) })
func Themed(draw Drawing) error {
	page, err := versions(draw, true)
	if err != nil {
		return report(err)
	}
	return HTML(themeStyle + page)
}

// versions is a figure in light and dark and, if phones are thought of, wide and narrow. With
// [themeStyle] the reader sees the one that suits the colours and the width of the page; where style
// sheets are dropped, the light wide one.
func versions(draw Drawing, phones bool) (string, error) {
	var page strings.Builder
	for _, v := range []struct {
		theme *viz.Theme
		open  string
	}{{viz.Light, `<div class="pcl-light">`}, {viz.Dark, `<div class="pcl-dark" style="display:none">`}} {
		f, err := draw(v.theme)
		pictures, err := widths(f, phones, err)
		if err != nil {
			return "", err
		}
		page.WriteString(v.open + pictures + "</div>")
	}
	return page.String(), nil
}

func widths(f *viz.Figure, phones bool, failed error) (string, error) {
	wide, err := encode(f, failed)
	if err != nil {
		return "", err
	}
	width, _ := size(wide)
	style := fmt.Sprintf("width:%dpx;max-width:100%%", width)
	if !phones {
		return img(wide, f.Alt, "", style), nil
	}
	narrow, err := encode(f.Narrow())
	return img(wide, f.Alt, "pcl-wide", style) + img(narrow, f.Alt, "pcl-narrow", "width:100%;display:none"), err
}

// themeStyle shows the dark version in dark JupyterLab and VS Code, and the narrow one on phones.
// Exported pages have a rule of their own for dark screens.
const themeStyle = `<style>
body[data-jp-theme-light="false"] .pcl-light, body.vscode-dark .pcl-light { display: none }
body[data-jp-theme-light="false"] .pcl-dark, body.vscode-dark .pcl-dark { display: block !important }
@media screen and (max-width: 500px) { .pcl-wide { display: none } .pcl-narrow { display: block !important } }
</style>`

// img is a PNG inside a page.
func img(data []byte, alt, class, style string) string {
	return fmt.Sprintf(`<img class="%s" style="%s" alt="%s" src="data:image/png;base64,%s">`,
		class, style, html.EscapeString(alt), base64.StdEncoding.EncodeToString(data))
}
