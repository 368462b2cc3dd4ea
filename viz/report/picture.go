package report

import (
	"html/template"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// runFigure is a figure, or why there is none.
type runFigure struct {
	Title, Note string
	Picture     template.HTML
}

// of draws the figure that it is the title and the note of, or says why it cannot be drawn.
func (r runFigure) of(f *viz.Figure, err error) runFigure {
	if r.Picture, err = picture(f, err); err != nil {
		r.Note = "Left out: " + strings.TrimPrefix(err.Error(), "viz: ") + "."
	}
	return r
}

func titled(title, note string) runFigure { return runFigure{Title: title, Note: note} }

// picture is a figure as a piece of a page.
func picture(f *viz.Figure, err error) (template.HTML, error) {
	if err != nil {
		return "", err
	}
	return template.HTML(f.Drawing().HTML()), nil
}
