package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Bounds of a drawing.
const (
	maxSVGDepth = 100
	maxSVGDrawn = 200_000 // elements, those that are drawn again included
)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
)

// svgElements are the elements that a drawing keeps; a loses its tags, and all others go with what they hold. A marker is
// drawn at each point of a path, so that a small file could draw without end.
var svgElements = words(`svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc
	image clipPath linearGradient radialGradient stop style a switch`)

// drawing is an SVG without scripts, links and whatever else is no line, area, text or picture.
type drawing struct {
	svg   []byte
	title string
	sized bool // it says how large it is
}

func (d *drawing) uri() string {
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.svg)
}

// cleanSVG reads a drawing. It need not be well-formed, as those in a page seldom are; what comes
// out is.
func cleanSVG(data []byte) (*drawing, error) {
	uses, err := readUses(data)
	if err != nil {
		return nil, err
	}
	c := &svgCleaner{decoder: svgDecoder(data), uses: uses}
	for {
		token, err := c.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			if c.drawing.svg == nil {
				return nil, errors.New("it is no SVG")
			}
			return &c.drawing, nil
		case err != nil:
			return nil, fmt.Errorf("it is no SVG: %w", err)
		}
		if err := c.token(token); err != nil {
			return nil, err
		}
	}
}

func svgDecoder(data []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.Entity = false, xml.HTMLEntity
	return d
}

// svgCleaner goes through a drawing.
type svgCleaner struct {
	decoder *xml.Decoder
	uses    map[string]bool
	drawing drawing
	out     bytes.Buffer
	open    []svgElement
	ended   bool
}

type svgElement struct {
	name   string // empty where only what it holds is kept
	reused bool   // it, or one around it, is drawn again by use
	text   []byte // of a style or a title
}

func (c *svgCleaner) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return c.start(t)
	case xml.EndElement:
		c.end()
	case xml.CharData:
		if n := len(c.open); n > 0 {
			if name := c.open[n-1].name; name == "style" || name == "title" {
				c.open[n-1].text = append(c.open[n-1].text, t...)
			} else {
				xml.EscapeText(&c.out, t)
			}
		}
	}
	return nil
}

func (c *svgCleaner) start(t xml.StartElement) error {
	name := t.Name.Local
	if len(c.open) == 0 && (name != "svg" || c.ended) {
		return errors.New("it is no SVG")
	}
	if len(c.open) == maxSVGDepth {
		return fmt.Errorf("its elements lie more than %d deep", maxSVGDepth)
	}
	e := svgElement{name: name}
	if n := len(c.open); n > 0 {
		e.reused = c.open[n-1].reused
	}
	if !svgElements[name] || t.Name.Space != "" && t.Name.Space != svgSpace || name == "use" && (e.reused || c.usedAgain(t)) {
		return c.decoder.Skip()
	}
	if name == "a" {
		e.name = ""
		c.open = append(c.open, e)
		return nil
	}
	c.out.WriteString("<" + name)
	if len(c.open) == 0 {
		c.out.WriteString(` xmlns="` + svgSpace + `"`)
	}
	c.attributes(t.Attr, &e)
	c.out.WriteString(">")
	c.open = append(c.open, e)
	return nil
}

// usedAgain says whether an element is itself drawn again by use.
func (c *svgCleaner) usedAgain(t xml.StartElement) bool {
	return slices.ContainsFunc(t.Attr, func(a xml.Attr) bool { return a.Name.Local == "id" && c.uses[a.Value] })
}

func (c *svgCleaner) attributes(given []xml.Attr, e *svgElement) {
	seen := map[string]bool{}
	for _, a := range given {
		name := a.Name.Local
		switch {
		case a.Name.Space == "xml" && name == "space", strings.HasSuffix(a.Name.Space, "XML/1998/namespace") && name == "space":
			name = "xml:space"
		case a.Name.Space == xlinkSpace || a.Name.Space == "xlink":
			if name != "href" {
				continue
			}
		case a.Name.Space != "" || name == "xmlns":
			continue
		}
		if seen[name] || !attributeName.MatchString(name) || !harmless(e.name, name, a.Value) {
			continue
		}
		seen[name] = true
		if name == "id" {
			e.reused = e.reused || c.uses[a.Value]
		}
		if root := len(c.open) == 0; root && name == "width" {
			c.drawing.sized = true
		} else if root && name == "aria-label" {
			c.drawing.title = a.Value
		}
		c.out.WriteString(" " + name + `="` + html.EscapeString(a.Value) + `"`)
	}
}

var attributeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9:-]*$`)

// harmless says whether an attribute neither runs, nor loads, nor leads anywhere.
func harmless(element, name, value string) bool {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, "on"):
		return false
	case lower == "href" && element == "image":
		return embedded.MatchString(value) && !strings.HasPrefix(value, "data:image/svg")
	case lower == "href":
		return strings.HasPrefix(value, "#")
	case lower == "src" || lower == "filter" || lower == "mask" || lower == "ping" || lower == "action":
		return false
	}
	return quiet(value)
}

var address = regexp.MustCompile(`(?i)url\(\s*["']?\s*`)

// quiet says whether a style names nothing outside the drawing.
func quiet(style string) bool {
	lower := strings.ToLower(style)
	for _, word := range []string{`\`, "@", "image(", "image-set", "expression", "javascript:", "src("} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	for _, at := range address.FindAllStringIndex(style, -1) {
		if !strings.HasPrefix(style[at[1]:], "#") {
			return false
		}
	}
	return true
}

func (c *svgCleaner) end() {
	n := len(c.open) - 1
	if n < 0 {
		return
	}
	e := &c.open[n]
	c.open = c.open[:n]
	if e.name == "" {
		return
	}
	switch text := string(e.text); e.name {
	case "style":
		if quiet(text) {
			xml.EscapeText(&c.out, []byte(text))
		}
	case "title":
		if n == 1 && c.drawing.title == "" {
			c.drawing.title = strings.TrimSpace(text)
		}
		xml.EscapeText(&c.out, []byte(text))
	}
	c.out.WriteString("</" + e.name + ">")
	if n == 0 {
		c.drawing.svg, c.ended = c.out.Bytes(), true
	}
}

// readUses returns what a drawing draws again by use, and refuses one that draws too much. What is
// drawn again may not draw again itself: it would double at each level.
func readUses(data []byte) (map[string]bool, error) {
	d := svgDecoder(data)
	sizes, uses := map[string]int{}, map[string]int{}
	type element struct {
		id    string
		begin int
	}
	var open []element
	n := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("it is no SVG: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			e := element{begin: n}
			n++
			for _, a := range t.Attr {
				switch {
				case a.Name.Local == "id":
					e.id = a.Value
				case a.Name.Local == "href" && t.Name.Local == "use":
					uses[strings.TrimPrefix(a.Value, "#")]++
				}
			}
			open = append(open, e)
			if len(open) > maxSVGDepth {
				return nil, fmt.Errorf("its elements lie more than %d deep", maxSVGDepth)
			}
		case xml.EndElement:
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if last.id != "" {
				sizes[last.id] = max(sizes[last.id], n-last.begin)
			}
		}
	}
	reused := map[string]bool{}
	for id, times := range uses {
		reused[id] = true
		n += min(times, maxSVGDrawn) * min(sizes[id], maxSVGDrawn)
		if n > maxSVGDrawn {
			return nil, fmt.Errorf("it draws more than %d elements", maxSVGDrawn)
		}
	}
	return reused, nil
}
