package viz

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// html is the drawing as a piece of a page; see [Frames.HTML].
func (d *drawing) html() string { return d.figure(` data-values="` + Pack(d.values()) + `"`) }

// figure is the same with attributes.
func (d *drawing) figure(attributes string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="pcl-figure" data-name="%s" style="max-width:%.0fpx`, escaped(d.Name), d.Width*96/72)
	used := d.used()
	for i, c := range d.Colors {
		switch {
		case !used[i]:
		case c[0] == c[1]:
			fmt.Fprintf(&b, ";--%d:%s", i, c[0])
		default:
			fmt.Fprintf(&b, ";--%d:light-dark(%s,%s)", i, c[0], c[1])
		}
	}
	b.WriteString(`"` + attributes + `>`)
	paint := func(i int) string { return fmt.Sprintf("var(--%d)", i) }
	if len(d.Key) > 0 {
		b.WriteString(`<div class="pcl-key">`)
		for _, p := range d.Key {
			b.WriteString(`<span class="pcl-entry">`)
			if p = p.withoutTexts(); p.Box[2] > 0 {
				p.svg(&b, fmt.Sprintf(`width="%.3g" aria-hidden="true"`, p.Box[2]*96/72), paint)
			}
			fmt.Fprintf(&b, `%s</span>`, escaped(p.Name))
		}
		b.WriteString(`</div>`)
	}
	nth, x, y := 0, "", ""
	for _, row := range d.Rows {
		fmt.Fprintf(&b, `<div class="pcl-row" style="--n:%d">`, len(row))
		for _, p := range row {
			attributes := fmt.Sprintf(`class="pcl-plot" data-box="%s"`, inUnits(p.Data[:]...))
			if own := p.X.text(); own != x {
				attributes, x = attributes+fmt.Sprintf(` data-x='%s'`, own), own
			}
			if own := p.Y.text(); own != y {
				attributes, y = attributes+fmt.Sprintf(` data-y='%s'`, own), own
			}
			alt := d.Alt
			if nth++; nth > 1 {
				alt = fmt.Sprintf("Plot %d: %s", nth, cmp.Or(p.Name, p.Y.Label, p.X.Label))
			}
			p.svg(&b, attributes+fmt.Sprintf(` role="img" aria-label="%s"`, escaped(alt)), paint)
		}
		b.WriteString(`</div>`)
	}
	b.WriteString(`</figure>`)
	return b.String()
}

// used says which of the colours something is drawn in.
func (d *drawing) used() []bool {
	used := make([]bool, len(d.Colors)+1) // a drawing of others may have marks and no colours
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			for _, m := range g.Marks {
				used[m.Color] = true
			}
		}
	}
	return used
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
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%gpt" height="%gpt" viewBox="0 0 %d %d" %s %s role="img" aria-label="%s">`,
		d.Width, d.height, units(d.Width), units(d.height), fonts, usual, escaped(d.Alt))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`, hex(Background.Light))
	paint := func(i int) string { return d.Colors[i][0] }
	for _, p := range d.parts() {
		p.groups(&b, paint)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// usual is what most marks have: lines are not filled and as thin as an axis, and texts are labels of ticks. Pages say so in
// their style.
const usual = `fill="none" stroke-width="5" font-size="90"`

// units are tenths of a point.
func units(x float64) int { return int(math.Round(10 * x)) }

// inUnits are lengths in an attribute.
func inUnits(lengths ...float64) string {
	texts := make([]string, len(lengths))
	for i, x := range lengths {
		texts[i] = strconv.Itoa(units(x))
	}
	return strings.Join(texts, " ")
}

func (p *part) svg(b *strings.Builder, attributes string, paint func(int) string) {
	fmt.Fprintf(b, `<svg viewBox="%s" %s>`, inUnits(p.Box[:]...), attributes)
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

// groups writes what the part shows. Groups among the data stand together in one, which a zoom takes along.
func (p *part) groups(b io.Writer, paint func(int) string) {
	inside := false
	for _, g := range p.Groups {
		switch {
		case len(g.Marks) == 0:
			continue
		case g.Inside && !inside:
			io.WriteString(b, `<g class="pcl-in">`)
		case inside && !g.Inside:
			io.WriteString(b, `</g>`)
		}
		inside = g.Inside
		io.WriteString(b, `<g`)
		for _, a := range [][2]string{{"series", g.Name}, {"say", g.Say}} {
			if a[1] != "" {
				fmt.Fprintf(b, ` data-%s="%s"`, a[0], escaped(a[1]))
			}
		}
		io.WriteString(b, `>`)
		marksOf(b, g.Marks, paint)
		io.WriteString(b, `</g>`)
	}
	if inside {
		io.WriteString(b, `</g>`)
	}
}

// marksOf writes marks; neighbours of one look have it from a group.
func marksOf(b io.Writer, marks []mark, paint func(int) string) {
	for len(marks) > 0 {
		look, n := marks[0].look(paint), 1
		for n < len(marks) && marks[n].look(paint) == look {
			n++
		}
		own := look
		if n > 1 && look != "" {
			fmt.Fprintf(b, `<g%s>`, look)
			own = ""
		}
		for i := range marks[:n] {
			marks[i].svg(b, own)
		}
		if own != look {
			io.WriteString(b, `</g>`)
		}
		marks = marks[n:]
	}
}

// look is what a mark has beside its place: the attributes in which it differs from the usual.
func (m *mark) look(paint func(int) string) string {
	size := ""
	switch {
	case m.Image != nil:
		return ""
	case m.Text != "" && m.Size != tickSize:
		size = fmt.Sprintf(` font-size="%d"`, units(m.Size))
	}
	if m.Text != "" || m.Width <= 0 {
		return fmt.Sprintf(` fill="%s"`, paint(m.Color)) + size
	}
	look := fmt.Sprintf(` stroke="%s"`, paint(m.Color))
	if m.Width != 0.5 {
		look += fmt.Sprintf(` stroke-width="%g"`, math.Round(1000*m.Width)/100)
	}
	if m.Dot {
		look += ` stroke-linecap="round"`
	}
	if len(m.Dash) > 0 {
		look += ` stroke-dasharray="` + inUnits(m.Dash...) + `"`
	}
	return look
}

func (m *mark) svg(b io.Writer, look string) {
	switch x, y := units(m.X), units(m.Y); {
	case m.Text != "":
		if m.Turn != 0 {
			look += fmt.Sprintf(` transform="rotate(%g %d %d)"`, m.Turn, x, y)
		}
		fmt.Fprintf(b, `<text x="%d" y="%d"%s>%s</text>`, x, y, look, escaped(m.Text))
	case m.Image != nil:
		fmt.Fprintf(b, `<image x="%d" y="%d" width="%d" height="%d" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
			x, y, units(m.Size), units(m.Width), base64.StdEncoding.EncodeToString(m.Image))
	default:
		fmt.Fprintf(b, `<path d="%s"%s/>`, dense(m.Path), look)
	}
}
