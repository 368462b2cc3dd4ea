package viz

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// html is the drawing as a piece of a page; see [Frames.HTML].
func (d *drawing) html() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="pcl-figure" data-name="%s" style="max-width:%.0fpx`, escaped(d.Name), d.Width*96/72)
	for i, c := range d.Colors {
		if c[0] == c[1] {
			fmt.Fprintf(&b, ";--%d:%s", i, c[0])
		} else {
			fmt.Fprintf(&b, ";--%d:light-dark(%s,%s)", i, c[0], c[1])
		}
	}
	b.WriteString(`"`)
	if d.CSV != nil {
		fmt.Fprintf(&b, ` data-csv="%s"`, base64.StdEncoding.EncodeToString(d.CSV))
	}
	if at := d.values(); at != "" {
		fmt.Fprintf(&b, ` data-at="%s"`, base64.StdEncoding.EncodeToString(compressed(func(w io.Writer) { io.WriteString(w, at) })))
	}
	b.WriteString(`>`)
	paint := func(i int) string { return fmt.Sprintf("var(--%d)", i) }
	if len(d.Key) > 0 {
		b.WriteString(`<div class="pcl-key">`)
		for _, p := range d.Key {
			fmt.Fprintf(&b, `<span class="pcl-entry" data-series="%s">`, escaped(p.Name))
			if p = p.withoutTexts(); p.Box[2] > 0 {
				p.svg(&b, fmt.Sprintf(`style="width:%.3gpx" aria-hidden="true"`, p.Box[2]*96/72), paint)
			}
			fmt.Fprintf(&b, `<span>%s</span></span>`, escaped(p.Name))
		}
		b.WriteString(`</div>`)
	}
	nth := 0
	for _, row := range d.Rows {
		fmt.Fprintf(&b, `<div class="pcl-row" style="--n:%d">`, len(row))
		for _, p := range row {
			attributes := fmt.Sprintf(`class="pcl-plot" data-box="%g %g %g %g" data-x='%s' data-y='%s'`, p.Data[0], p.Data[1], p.Data[2], p.Data[3], p.X.text(), p.Y.text())
			alt := d.Alt
			if nth++; nth > 1 {
				alt = fmt.Sprintf("Plot %d: %s", nth, cmp.Or(p.Name, p.Y.Label, p.X.Label))
			}
			attributes += fmt.Sprintf(` role="img" aria-label="%s"`, escaped(alt))
			p.svg(&b, attributes, paint)
		}
		b.WriteString(`</div>`)
	}
	b.WriteString(`</figure>`)
	return b.String()
}

// escaped is a text as HTML and XML have it, without the characters that XML does not allow even escaped: a name that holds one
// would make the whole drawing unreadable.
func escaped(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, s))
}

// text is an axis as an attribute, in single quotes: JSON is full of double ones.
func (a axis) text() string {
	data, _ := json.Marshal(a) // of finite numbers
	return strings.ReplaceAll(escaped(string(data)), "&#34;", `"`)
}

// fonts of the same widths stand behind Liberation Sans, which few readers have, and one that is hardly wider: where a bare
// Linux has DejaVu alone, labels would not fit.
const fonts = `font-family="'Liberation Sans',Arimo,Arial,Helvetica,'DejaVu Sans Condensed',sans-serif"`

// svg is the drawing as a file; see [Frames.SVG].
func (d *drawing) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%gpt" height="%gpt" viewBox="0 0 %g %g" %s %s role="img" aria-label="%s">`,
		d.Width, d.height, d.Width, d.height, fonts, usual, escaped(d.Alt))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`, hex(paper.light))
	paint := func(i int) string { return d.Colors[i][0] }
	for _, p := range d.parts() {
		p.groups(&b, paint)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// usual is what most marks have: lines are not filled, and labels of ticks are texts of that size.
const usual = `fill="none" font-size="9"`

func (p *part) svg(b *strings.Builder, attributes string, paint func(int) string) {
	fmt.Fprintf(b, `<svg viewBox="%g %g %g %g" %s %s>`, p.Box[0], p.Box[1], p.Box[2], p.Box[3], usual, attributes)
	p.groups(b, paint)
	b.WriteString(`</svg>`)
}

// withoutTexts is an entry of the key for a page, where the name stands beside its picture.
func (p part) withoutTexts() part {
	p.Groups = slices.Clone(p.Groups)
	for i := range p.Groups {
		marks := slices.Clone(p.Groups[i].Marks)
		p.Groups[i].Marks = slices.DeleteFunc(marks, func(m mark) bool { return m.Text != "" })
	}
	return p
}

func (p *part) groups(b io.Writer, paint func(int) string) {
	for _, g := range p.Groups {
		io.WriteString(b, `<g`)
		if g.Inside {
			io.WriteString(b, ` class="pcl-in"`)
		}
		if len(g.At) > 0 {
			io.WriteString(b, ` data-at=""`) // the figure has them
		}
		for _, a := range [][2]string{{"series", g.Name}, {"say", g.Say}} {
			if a[1] != "" {
				fmt.Fprintf(b, ` data-%s="%s"`, a[0], escaped(a[1]))
			}
		}
		io.WriteString(b, `>`)
		for _, m := range g.Marks {
			m.svg(b, paint)
		}
		io.WriteString(b, `</g>`)
	}
}

// values are those of all series, a line for each.
func (d *drawing) values() string {
	var lines []string
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			if len(g.At) > 0 {
				lines = append(lines, values(g.At))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// values are those of a series.
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

func (m *mark) svg(b io.Writer, paint func(int) string) {
	switch {
	case m.Text != "":
		fmt.Fprintf(b, `<text x="%g" y="%g" fill="%s"`, m.X, m.Y, paint(m.Color))
		if m.Size != tickSize {
			fmt.Fprintf(b, ` font-size="%g"`, m.Size)
		}
		if m.Turn != 0 {
			fmt.Fprintf(b, ` transform="rotate(%g %g %g)"`, m.Turn, m.X, m.Y)
		}
		fmt.Fprintf(b, `>%s</text>`, escaped(m.Text))
	case m.Image != nil:
		fmt.Fprintf(b, `<image x="%g" y="%g" width="%g" height="%g" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`, m.X, m.Y, m.Size, m.Width, base64.StdEncoding.EncodeToString(m.Image))
	case m.Width > 0:
		fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="%g"`, m.Path, paint(m.Color), m.Width)
		if m.Dot {
			io.WriteString(b, ` stroke-linecap="round"`)
		}
		if len(m.Dash) > 0 {
			fmt.Fprintf(b, ` stroke-dasharray="%s"`, values([][]float64{m.Dash}))
		}
		io.WriteString(b, `/>`)
	default:
		fmt.Fprintf(b, `<path d="%s" fill="%s"/>`, m.Path, paint(m.Color))
	}
}
