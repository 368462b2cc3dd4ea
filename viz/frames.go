package viz

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// MediaType is the media type of the JSON of [Frames] in the outputs of a notebook.
const MediaType = "application/vnd.parallelcl.figure+json"

// Frames are figures as they were drawn, for pages and notebooks. They stand below each other or,
// if they have labels, a slider chooses one.
type Frames struct {
	Drawings []*drawing
	Labels   []string `json:",omitempty"`
	Start    int      `json:",omitempty"`

	cells int
}

// MaxCells is the largest number of cells that [ReadFrames] accepts in the data of its figures: ten
// times that of a large figure.
const MaxCells = 300_000

// CellCount returns the number of cells in the data of the figures, as [ReadFrames] counted them.
func (f *Frames) CellCount() int { return f.cells }

// DrawFrames draws figures at their sizes. Labels, one for each figure, make them the frames of a
// slider, which shows the frame with number start first. Frames with the same arrangement of plots
// get the same axes, so that they can be compared.
func DrawFrames(start int, labels []string, figures ...*Figure) *Frames {
	if labels != nil {
		sameAxes(figures...)
	}
	f := &Frames{Labels: labels, Start: start}
	for _, each := range figures {
		f.Drawings = append(f.Drawings, each.drawing())
	}
	return f
}

// ReadFrames reads the JSON of [Frames]. It checks that they can draw nothing but figures and are
// not too large for a page, since a notebook may come from anywhere.
func ReadFrames(data []byte) (*Frames, error) {
	var f Frames
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("viz: figure: %w", err)
	}
	n := len(f.Drawings)
	fits := n > 0 && (f.Labels == nil || len(f.Labels) == n) && f.Start >= 0 && f.Start < n
	if !fits || slices.ContainsFunc(f.Drawings, func(d *drawing) bool { return d == nil || !d.harmless() }) {
		return nil, errors.New("viz: figure: its frames, labels, names or colours are not those of a figure")
	}
	left := allowance{bytes: 2 << 20, cells: MaxCells, columns: 1000}
	for _, d := range f.Drawings {
		if err := d.read(&left); err != nil {
			return nil, fmt.Errorf("viz: figure: %w", err)
		}
	}
	f.cells = MaxCells - left.cells
	return &f, nil
}

// SVG returns a frame as an SVG file, in the colours of light screens.
func (f *Frames) SVG(i int) []byte { return f.Drawings[i].svg() }

// HTML returns the frames as a part of a page. Each is an SVG that follows the page's color-scheme
// and width; the values that pages show are in data attributes. Lengths are whole numbers of tenths
// of a point. The frames that a slider does not show first are compressed.
func (f *Frames) HTML() string {
	if f.Labels == nil {
		var b strings.Builder
		for _, d := range f.Drawings {
			b.WriteString(d.html())
		}
		return b.String()
	}
	var frames struct { // viz/internal/script/frames.js reads it
		Labels, HTML []string
		Values       []*numbers
	}
	frames.Labels = f.Labels
	for _, d := range f.Drawings {
		frames.HTML, frames.Values = append(frames.HTML, d.figure("")), append(frames.Values, &d.numbers)
	}
	shown := f.Drawings[f.Start].html()
	frames.HTML[f.Start], frames.Values[f.Start] = "", nil
	all, _ := json.Marshal(frames) // of texts and finite numbers
	label := html.EscapeString(f.Labels[f.Start])
	slider := fmt.Sprintf(`<p><input type="range" min="0" max="%d" value="%d" step="1" aria-label="frame" `+
		`aria-valuetext="%s"> <output>%s</output></p>`, len(f.Labels)-1, f.Start, label, label)
	return fmt.Sprintf(`<div class="pcl-frames" data-frames="%s">%s<div>%s</div></div>`, Pack(all), slider, shown)
}

var (
	aColor = regexp.MustCompile(`^#(?:[0-9a-f]{6}|[0-9a-f]{8})$`)
	aName  = regexp.MustCompile(`^[a-z0-9-]{0,60}$`)
)

// harmless says whether what stands in attributes is what a figure has there. Paths are checked
// while they are read, and texts are escaped.
func (d *drawing) harmless() bool {
	if !aName.MatchString(d.Name) || !(d.Width > 0 && d.Width < 1e5) {
		return false
	}
	for _, c := range d.Colors {
		if !aColor.MatchString(c[0]) || !aColor.MatchString(c[1]) {
			return false
		}
	}
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			if slices.ContainsFunc(g.Marks, func(m mark) bool { return m.Color < 0 || m.Color >= max(1, len(d.Colors)) }) {
				return false
			}
		}
	}
	return true
}
