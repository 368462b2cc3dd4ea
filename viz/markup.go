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

// A drawing becomes a piece of a page, whose colours follow the page's scheme, or an SVG file.

// paint returns the colour of a number as an attribute has it.
type paint func(int) string

// html returns the drawing as a piece of a page; see [Frames.HTML].
func (d *drawing) html() string { return d.figure(` data-values="` + d.Values + `"`) }

// figure returns the piece of a page with attributes.
func (d *drawing) figure(attributes string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="pcl-figure" data-name="%s" style="max-width:%.0fpx%s"%s>`,
		escaped(d.Name), cssPixels(d.Width), d.variables(), attributes)
	d.writeKey(&b)
	var x, y string
	nth := 0
	for _, row := range d.Rows {
		narrow := ""
		if len(row) == 1 && d.Width <= narrowest { // so a phone has room for all of it
			narrow = " narrow"
		}
		fmt.Fprintf(&b, `<div class="pcl-row%s" style="--n:%d">`, narrow, len(row))
		for _, p := range row {
			if len(p.Groups) == 0 && p.Box[2] == 0 { // it keeps a place in the row
				b.WriteString(`<i></i>`)
				continue
			}
			attributes := fmt.Sprintf(`class="pcl-plot" data-box="%s"`, joined(p.Data[:]...))
			if own := p.X.text(); own != x { // an axis like the one before stands once
				attributes, x = attributes+fmt.Sprintf(` data-x='%s'`, own), own
			}
			if own := p.Y.text(); own != y {
				attributes, y = attributes+fmt.Sprintf(` data-y='%s'`, own), own
			}
			alt := d.Alt
			if nth++; nth > 1 {
				alt = fmt.Sprintf("Plot %d: %s", nth, cmp.Or(p.Name, p.Y.Label, p.X.Label))
			}
			p.svg(&b, attributes+fmt.Sprintf(` role="img" aria-label="%s"`, escaped(alt)), variable)
		}
		b.WriteString(`</div>`)
	}
	b.WriteString(`</figure>`)
	return b.String()
}

// narrowest is a width at which a plot can still be read when it fills a phone.
const narrowest = 4000

// writeKey writes the key. The names of its entries stand beside their pictures, as text of the
// page.
func (d *drawing) writeKey(b *strings.Builder) {
	if len(d.Key) == 0 {
		return
	}
	b.WriteString(`<div class="pcl-key">`)
	for _, p := range d.Key {
		b.WriteString(`<span class="pcl-entry">`)
		if p = p.withoutTexts(); p.Box[2] > 0 {
			p.svg(b, fmt.Sprintf(`width="%.3g" aria-hidden="true"`, cssPixels(p.Box[2])), variable)
		}
		fmt.Fprintf(b, `%s</span>`, escaped(p.Name))
	}
	b.WriteString(`</div>`)
}

// cssPixels returns a length in the pixels of CSS.
func cssPixels(x int) float64 { return float64(x) / 10 * 96 / 72 }

func variable(i int) string { return fmt.Sprintf("var(--%d)", i) }

// variables returns the colours that something is drawn in, as variables of CSS.
func (d *drawing) variables() string {
	used := make([]bool, len(d.Colors)+1) // a drawing of others may have marks and no colours
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			for _, m := range g.Marks {
				used[m.Color] = true
			}
		}
	}
	var b strings.Builder
	for i, c := range d.Colors {
		switch {
		case !used[i]:
		case c[0] == c[1]:
			fmt.Fprintf(&b, ";--%d:%s", i, c[0])
		default:
			fmt.Fprintf(&b, ";--%d:light-dark(%s,%s)", i, c[0], c[1])
		}
	}
	return b.String()
}

// svg returns the drawing as a file; see [Frames.SVG].
func (d *drawing) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%gpt" height="%gpt" viewBox="0 0 %d %d" `,
		float64(d.Width)/10, float64(d.Height)/10, d.Width, d.Height)
	fmt.Fprintf(&b, `%s %s role="img" aria-label="%s">`, fonts, usual, escaped(d.Alt))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`, hex(Background.Light))
	for _, p := range d.parts() {
		p.groups(&b, func(i int) string { return d.Colors[i][0] })
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// escaped returns a text as HTML and XML have it. It leaves out the characters that XML does not
// allow even escaped: one of them would make the whole drawing unreadable.
func escaped(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, s))
}

// text returns an axis as an attribute in single quotes, since JSON is full of double ones.
func (a axis) text() string {
	data, _ := json.Marshal(a) // of finite numbers
	return strings.ReplaceAll(escaped(string(data)), "&#34;", `"`)
}

// fonts names Liberation Sans, which few readers have, and fonts of the same widths. The condensed
// DejaVu is for bare Linux systems, where the wider one would not leave labels enough room.
const fonts = `font-family="'Liberation Sans',Arimo,Arial,Helvetica,'DejaVu Sans Condensed',sans-serif"`

// usual are the attributes that most marks have: lines are not filled and as thin as an axis, and
// texts are labels of ticks. Pages say so in their style.
const usual = `fill="none" stroke-width="5" font-size="90"`

// joined returns numbers as an attribute lists them.
func joined(numbers ...int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

func (p *part) svg(b *strings.Builder, attributes string, paint paint) {
	fmt.Fprintf(b, `<svg viewBox="%s" %s>`, joined(p.Box[:]...), attributes)
	p.groups(b, paint)
	b.WriteString(`</svg>`)
}

// withoutTexts returns an entry of the key without the text in its drawing.
func (p part) withoutTexts() part {
	p.Groups = slices.Clone(p.Groups)
	for i := range p.Groups {
		marks := slices.Clone(p.Groups[i].Marks)
		p.Groups[i].Marks = slices.DeleteFunc(marks, func(m mark) bool { return m.Text != "" })
	}
	return p
}

// groups writes the groups of the part. Groups among the data share an element, which a zoom moves.
func (p *part) groups(b io.Writer, paint paint) {
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
		writeMarks(b, g.Marks, paint)
		io.WriteString(b, `</g>`)
	}
	if inside {
		io.WriteString(b, `</g>`)
	}
}

// writeMarks writes marks. Neighbours of one look get it from an element around them.
func writeMarks(b io.Writer, marks []mark, paint paint) {
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

// look returns the attributes of a mark, but for its place, that differ from the usual ones.
func (m *mark) look(paint paint) string {
	size := ""
	switch {
	case m.Image != nil:
		return ""
	case m.Text != "" && m.Size != 10*tickSize:
		size = fmt.Sprintf(` font-size="%d"`, m.Size)
	}
	if m.Text != "" || m.Width <= 0 {
		return fmt.Sprintf(` fill="%s"`, paint(m.Color)) + size
	}
	look := fmt.Sprintf(` stroke="%s"`, paint(m.Color))
	if m.Width != 5 {
		look += fmt.Sprintf(` stroke-width="%g"`, m.Width)
	}
	if m.Dot {
		look += ` stroke-linecap="round"`
	}
	if len(m.Dash) > 0 {
		look += ` stroke-dasharray="` + joined(m.Dash...) + `"`
	}
	return look
}

func (m *mark) svg(b io.Writer, look string) {
	switch {
	case m.Text != "":
		if m.Turn != 0 {
			look += fmt.Sprintf(` transform="rotate(%g %d %d)"`, m.Turn, m.X, m.Y)
		}
		fmt.Fprintf(b, `<text x="%d" y="%d"%s>%s</text>`, m.X, m.Y, look, escaped(m.Text))
	case m.Image != nil:
		fmt.Fprintf(b, `<image x="%d" y="%d" width="%d" height="%g" preserveAspectRatio="none" `,
			m.X, m.Y, m.Size, m.Width)
		fmt.Fprintf(b, `href="data:image/png;base64,%s"/>`, base64.StdEncoding.EncodeToString(m.Image))
	default:
		fmt.Fprintf(b, `<path d="%s"%s/>`, m.Path.text, look)
	}
}
