package viz

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// DrawingType is the media type of a [Drawing] in JSON, in the outputs of a notebook.
const DrawingType = "application/vnd.parallelcl.figure+json"

// Drawing is a figure as it was drawn, in parts that a page can arrange, with the names and values of what they show. Its
// colours come in pairs, for light screens and dark ones.
type Drawing struct {
	Name, Alt string
	Width     float64 // points
	Colors    [][2]string
	Key       []part
	Rows      [][]part
	CSV       []byte // the data, compressed by gzip; nil if there are none

	fixed bool // the colours are those of paper, or of a dark screen
}

// part is a plot, or an entry of the key. Boxes are x, y, width and height, in points.
type part struct {
	Name   string `json:",omitempty"`
	Box    [4]float64
	Data   [4]float64 // where the values lie
	X, Y   axis
	Groups []group
}

// axis turns places into values.
type axis struct {
	Label    string `json:",omitempty"`
	Min, Max float64
	Kind     string `json:",omitempty"` // "log"; "power", of which the values are exponents; or "names" of what is no number; empty: linear
	Names    []name `json:",omitempty"`
}

// name stands at a value of an axis.
type name struct {
	At   float64
	Name string
}

// group is what belongs together: a series, a mark, or what has no name.
type group struct {
	Name   string      `json:",omitempty"`
	Say    string      `json:",omitempty"` // what a reader is told
	At     [][]float64 `json:",omitempty"` // the values of a series: x, y, and perhaps low and high
	Inside bool        `json:",omitempty"` // among the data, which a zoom takes along
	Marks  []mark
}

// mark is a path that is filled, or stroked if it has a width; a text; or a picture, Size wide and Width high.
type mark struct {
	Path  string    `json:",omitempty"`
	Text  string    `json:",omitempty"`
	Image string    `json:",omitempty"`
	Color int       `json:",omitempty"`
	Width float64   `json:",omitempty"`
	Dot   bool      `json:",omitempty"` // of a round pen
	Dash  []float64 `json:",omitempty"`
	X     float64   `json:",omitempty"`
	Y     float64   `json:",omitempty"`
	Size  float64   `json:",omitempty"`
	Turn  float64   `json:",omitempty"` // degrees
}

// goesOn says whether what has a tag belongs to the group.
func (g *group) goesOn(t tag, inside bool) bool {
	return g.Name == t.name && g.Say == printable(t.say) && g.Inside == inside && t.at == nil
}

// joins says whether the other is a path of the same look.
func (m *mark) joins(o *mark) bool {
	return m.Path != "" && o.Path != "" && m.Color == o.Color && m.Width == o.Width && m.Dot == o.Dot && len(m.Dash) == 0 && len(o.Dash) == 0
}

// Drawing draws the figure at its size.
func (f *Figure) Drawing() (*Drawing, error) { return f.drawing(f.look() != Light) }

func (f *Figure) drawing(fixed bool) (*Drawing, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	width, height := f.whole()
	d := &Drawing{Name: printable(f.Name), Alt: printable(f.Alt), Width: tenth(width), fixed: fixed}
	f.Draw(draw.NewCanvas(newSheet(d, height), width, height))
	if len(f.Data.Head) > 0 {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // which is a level
		err := errors.Join(f.Data.writeCSV(w), w.Close())
		if err != nil {
			return nil, err
		}
		d.CSV = b.Bytes()
	}
	return d, nil
}

// begin makes a part of a drawing of what is drawn next.
func (f *Figure) begin(tile draw.Canvas, label string, p *plot.Plot, box vg.Rectangle, row int) {
	s := sheetOf(tile)
	if s == nil {
		return
	}
	of := &s.drawing.Key
	if p != nil {
		for len(s.drawing.Rows) <= row {
			s.drawing.Rows = append(s.drawing.Rows, nil)
		}
		of = &s.drawing.Rows[row]
	}
	*of = append(*of, part{Name: printable(label)})
	made := &(*of)[len(*of)-1]
	s.in(made, box)
	if p != nil {
		made.Name = printable(strings.Join(strings.Fields(p.Title.Text), " "))
		made.Data = s.box(p.DataCanvas(tile).Rectangle) // which gives axes without data their ends
		made.X, made.Y = axisOf(&p.X), axisOf(&p.Y)
	}
}

func axisOf(a *plot.Axis) axis {
	out := axis{Label: printable(a.Label.Text), Min: a.Min, Max: a.Max}
	switch a.Scale.(type) {
	case plot.LogScale:
		out.Kind = "log"
	}
	switch ticks := a.Tick.Marker.(type) {
	case plot.ConstantTicks:
		out.Kind = "names"
		for _, t := range ticks {
			if t.Label != "" {
				out.Names = append(out.Names, name{t.Value, printable(t.Label)})
			}
		}
	case powerTicks:
		out.Kind = "power"
	}
	return out
}

// HTML is the drawing as a piece of a page, as SVG that follows the page's color-scheme and width. What readers can ask it
// stands in data attributes.
func (d *Drawing) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="pcl-figure" data-name="%s" style="max-width:%.0fpx`, html.EscapeString(d.Name), d.Width*96/72)
	for i, c := range d.Colors {
		if c[0] == c[1] {
			fmt.Fprintf(&b, ";--%d:%s", i, c[0])
		} else {
			fmt.Fprintf(&b, ";--%d:light-dark(%s,%s)", i, c[0], c[1])
		}
	}
	b.WriteString(`"`)
	if d.CSV != nil {
		csv, _ := json.Marshal(d.CSV) // base64
		fmt.Fprintf(&b, ` data-csv=%s`, csv)
	}
	b.WriteString(`>`)
	paint := func(i int) string { return fmt.Sprintf("var(--%d)", i) }
	if len(d.Key) > 0 {
		b.WriteString(`<div class="pcl-key">`)
		for _, p := range d.Key {
			fmt.Fprintf(&b, `<span class="pcl-entry" data-series="%s">`, html.EscapeString(p.Name))
			if p.Box[2] > 0 {
				p.svg(&b, fmt.Sprintf(`style="width:%.3gpx" aria-hidden="true"`, p.Box[2]*96/72), paint)
			}
			fmt.Fprintf(&b, `<span>%s</span></span>`, html.EscapeString(p.Name))
		}
		b.WriteString(`</div>`)
	}
	nth := 0
	for _, row := range d.Rows {
		fmt.Fprintf(&b, `<div class="pcl-row" style="--n:%d">`, len(row))
		for _, p := range row {
			attributes := fmt.Sprintf(`class="pcl-plot" data-box="%g %g %g %g" data-x="%s" data-y="%s"`, p.Data[0], p.Data[1], p.Data[2], p.Data[3], p.X.text(), p.Y.text())
			alt := d.Alt
			if nth++; nth > 1 {
				alt = fmt.Sprintf("Plot %d: %s", nth, cmp.Or(p.Name, p.Y.Label, p.X.Label))
			}
			attributes += fmt.Sprintf(` role="img" aria-label="%s"`, html.EscapeString(alt))
			p.svg(&b, attributes, paint)
		}
		b.WriteString(`</div>`)
	}
	b.WriteString(`</figure>`)
	return b.String()
}

// text is an axis as an attribute.
func (a axis) text() string {
	data, _ := json.Marshal(a) // of finite numbers
	return html.EscapeString(string(data))
}

// fonts of the same widths stand behind Liberation Sans, which few readers have, and one that is hardly wider: where a bare
// Linux has DejaVu alone, labels would not fit.
const fonts = `font-family="'Liberation Sans',Arimo,Arial,Helvetica,'DejaVu Sans Condensed',sans-serif"`

// svg is the drawing as a file, in the colours of light screens.
func (d *Drawing) svg(background string, width, height float64) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%gpt" height="%gpt" viewBox="0 0 %g %g" %s role="img" aria-label="%s">`,
		width, height, width, height, fonts, html.EscapeString(d.Alt))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`, background)
	paint := func(i int) string { return d.Colors[i][0] }
	for _, row := range append([][]part{d.Key}, d.Rows...) {
		for _, p := range row {
			p.groups(&b, paint)
		}
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func (p *part) svg(b *strings.Builder, attributes string, paint func(int) string) {
	fmt.Fprintf(b, `<svg viewBox="%g %g %g %g" %s>`, p.Box[0], p.Box[1], p.Box[2], p.Box[3], attributes)
	p.groups(b, paint)
	b.WriteString(`</svg>`)
}

func (p *part) groups(b *strings.Builder, paint func(int) string) {
	for _, g := range p.Groups {
		b.WriteString(`<g`)
		if g.Inside {
			b.WriteString(` class="pcl-in"`)
		}
		for _, a := range [][2]string{{"series", g.Name}, {"say", g.Say}, {"at", values(g.At)}} {
			if a[1] != "" {
				fmt.Fprintf(b, ` data-%s="%s"`, a[0], html.EscapeString(a[1]))
			}
		}
		b.WriteString(`>`)
		for _, m := range g.Marks {
			m.svg(b, paint)
		}
		b.WriteString(`</g>`)
	}
}

// values are those of a series as an attribute.
func values(at [][]float64) string {
	var b strings.Builder
	for i, v := range at {
		if i > 0 {
			b.WriteByte(';')
		}
		for k, x := range v {
			if k > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%g", x)
		}
	}
	return b.String()
}

func (m *mark) svg(b *strings.Builder, paint func(int) string) {
	switch {
	case m.Text != "":
		fmt.Fprintf(b, `<text x="%g" y="%g" font-size="%g" fill="%s"`, m.X, m.Y, m.Size, paint(m.Color))
		if m.Turn != 0 {
			fmt.Fprintf(b, ` transform="rotate(%g %g %g)"`, m.Turn, m.X, m.Y)
		}
		fmt.Fprintf(b, `>%s</text>`, html.EscapeString(m.Text))
	case m.Image != "":
		fmt.Fprintf(b, `<image x="%g" y="%g" width="%g" height="%g" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`, m.X, m.Y, m.Size, m.Width, m.Image)
	case m.Width > 0:
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="%g"`, m.Path, paint(m.Color), m.Width)
		if m.Dot {
			b.WriteString(` stroke-linecap="round"`)
		}
		if len(m.Dash) > 0 {
			fmt.Fprintf(b, ` stroke-dasharray="%s"`, values([][]float64{m.Dash}))
		}
		b.WriteString(`/>`)
	default:
		fmt.Fprintf(b, `<path d="%s" fill="%s"/>`, m.Path, paint(m.Color))
	}
}

// Limits of a drawing from elsewhere.
const (
	maxParts = 500
	maxMarks = 200_000
	maxText  = 10_000 // characters of a name or a text
)

var (
	aColor = regexp.MustCompile(`^#(?:[0-9a-f]{6}|[0-9a-f]{8})$`)
	aPath  = regexp.MustCompile(`^[MLCQZ0-9. e-]*$`)
	aName  = regexp.MustCompile(`^[a-z0-9-]{0,60}$`)
	aPNG   = regexp.MustCompile(`^[A-Za-z0-9+/]*=*$`)
)

// Frames are drawings that stand below each other or, if they have labels, are chosen by a slider, which begins with one.
type Frames struct {
	Drawings []*Drawing
	Labels   []string `json:",omitempty"`
	Start    int      `json:",omitempty"`
}

// ReadFrames reads what [Frames] are as JSON, or as a text that holds JSON, and checks that they can draw nothing but figures:
// a notebook may come from anywhere.
func ReadFrames(data []byte) (*Frames, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	var f Frames
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("viz: figure: %w", err)
	}
	n := len(f.Drawings)
	if n == 0 || f.Labels != nil && len(f.Labels) != n || f.Start < 0 || f.Start >= n || slices.Contains(f.Drawings, nil) {
		return nil, errors.New("viz: figure: its frames and their labels do not fit")
	}
	for _, d := range f.Drawings {
		if err := d.check(); err != nil {
			return nil, fmt.Errorf("viz: figure: %w", err)
		}
	}
	return &f, nil
}

// HTML is the drawings as a piece of a page.
func (f *Frames) HTML() string {
	var b strings.Builder
	if f.Labels == nil {
		for _, d := range f.Drawings {
			b.WriteString(d.HTML())
		}
		return b.String()
	}
	label := html.EscapeString(f.Labels[f.Start])
	fmt.Fprintf(&b, `<div class="pcl-frames"><p><input type="range" min="0" max="%d" value="%d" step="1" aria-label="frame" aria-valuetext="%s"> <output>%s</output></p>`,
		len(f.Drawings)-1, f.Start, label, label)
	for i, d := range f.Drawings {
		hidden := " hidden"
		if i == f.Start {
			hidden = ""
		}
		fmt.Fprintf(&b, `<div data-label="%s"%s>%s</div>`, html.EscapeString(f.Labels[i]), hidden, d.HTML())
	}
	b.WriteString(`</div>`)
	return b.String()
}

func (d *Drawing) check() error {
	if !aName.MatchString(d.Name) || len(d.Alt) > maxText || !(d.Width > 0 && d.Width < 1e4) {
		return errors.New("its name, description or width is not that of a figure")
	}
	for _, c := range d.Colors {
		if !aColor.MatchString(c[0]) || !aColor.MatchString(c[1]) {
			return fmt.Errorf("%.30q is not a colour; want #rrggbb", c)
		}
	}
	parts, marks := 0, 0
	for _, row := range append([][]part{d.Key}, d.Rows...) {
		for _, p := range row {
			parts++
			if !finites(p.Box[:]...) || !finites(p.Data[:]...) || len(p.Name) > maxText {
				return errors.New("a part has no place")
			}
			for _, g := range p.Groups {
				marks += len(g.Marks) + len(g.At)
				for _, m := range g.Marks {
					if m.Color < 0 || m.Color >= max(1, len(d.Colors)) || !aPath.MatchString(m.Path) || !aPNG.MatchString(m.Image) || len(m.Text) > maxText {
						return errors.New("a mark is neither a path nor a text nor a picture, or has an unknown colour")
					}
				}
			}
		}
	}
	if parts > maxParts || marks > maxMarks {
		return fmt.Errorf("%d parts and %d marks; want at most %d and %d", parts, marks, maxParts, maxMarks)
	}
	return nil
}

func finites(all ...float64) bool {
	for _, x := range all {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
