package nb

import "github.com/parallelcl/parallelcl/viz"

// Drawing draws a figure in the colours of a theme.
type Drawing = func(*viz.Theme) (*viz.Figure, error)

// Themed shows a figure in the colours of the reader's screen, wide or, on a phone, narrow, with buttons below
// that save it as SVG, as PDF, and its data as CSV:
//
//	nb.Themed(func(t *viz.Theme) (*viz.Figure, error) { return viz.Timeline(t, run) })
func Themed(draw Drawing) error {
	t, err := drawThemed(draw)
	if err != nil {
		return report(err)
	}
	page, err := t.page(true, true)
	if err != nil {
		return report(err)
	}
	return report(showFigure(t.light, page, ""))
}
