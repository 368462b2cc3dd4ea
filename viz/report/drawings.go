package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const (
	maxDrawn     = 300_000 // elements of a drawing, and one more for each 20 bytes
	drawingDepth = 500     // how deep elements of a drawing may lie in each other, or refer to each other
	endless      = 1 << 30 // the weight of what refers to itself
)

var errExpands = errors.New("its elements refer to each other so often that drawing it takes too long")

// drawing is an SVG: a browser draws an element again for each reference to it.
type drawing struct {
	root    part
	named   map[string]*part // elements by "#" and id; what style sheets say by element, id or class
	markers bool             // they may stand at each vertex
}

// part is an element of a drawing, or a rule of its style sheets.
type part struct {
	element  string
	children []*part
	refers   []string // names of parts that may be drawn with each element within it
	vertices int
	weight   int // 0 until it is known
}

// weighDrawing bounds how many elements a browser draws. A drawing is refused if they are too many,
// or if not all of its references are plain.
func weighDrawing(source string) (int, error) {
	d, err := readDrawing(source)
	if err != nil {
		return 0, err
	}
	n := d.weigh(&d.root, 0)
	if n > maxDrawn+len(source)/20 {
		return 0, errExpands
	}
	return n, nil
}

// weigh counts each element within a part once for each combination of what it may be drawn with.
func (d *drawing) weigh(p *part, depth int) int {
	switch {
	case p == nil: // nothing has the name
		return 0
	case p.weight > 0:
		return p.weight
	case depth > drawingDepth:
		return endless
	}
	p.weight = endless // if it refers to itself
	n := 1
	if d.markers {
		n += p.vertices
	}
	for _, c := range p.children {
		n = min(endless, n+d.weigh(c, depth+1))
	}
	for _, name := range p.refers {
		n = min(endless, n*(1+d.weigh(d.named[name], depth+1)))
	}
	p.weight = n
	return n
}

var (
	word    = `(?:"([^"<&%#]{0,200})"|'([^'<&%#]{0,200})')`
	entity  = regexp.MustCompile(`<!ENTITY\s+([\w.:-]+)\s+` + word + `\s*>`)
	doctype = regexp.MustCompile(`^DOCTYPE[^\[\]<>]*(?:\[(?:\s*` + entity.String() + `)*\s*\]\s*)?$`)

	reference  = regexp.MustCompile(`(?:^|["'(])\s*#([^\s"'(),;]+)`)
	oddID      = regexp.MustCompile(`[\s"'(),;%].*`)    // which a reference may write in another way
	unpainted  = regexp.MustCompile(`^aria-|^content$`) // attributes for screen readers and editors
	animations = words(`set animate animateMotion animateTransform`)
	animated   = regexp.MustCompile(`\(.*#|href$|^class$`) // so that references change
	markers    = regexp.MustCompile(`(?i)marker`)

	// hiding finds values, without their white space, in which references could hide: other
	// drawings and style sheets, letters that are written as numbers, CSS variables, vertices.
	hiding = regexp.MustCompile(`(?i)data:(?:image/svg|text)|\\.*\(|\(.*\\|(?:^|["'(])#[^"'(),;]*%|` +
		`--[^;{}()]*:.*["'(]#|\bd:path\(`)
)

func readDrawing(source string) (*drawing, error) {
	d := &drawing{named: map[string]*part{}}
	x := xml.NewDecoder(strings.NewReader(source))
	x.Entity = map[string]string{}
	within := []*part{&d.root}
	var sheets strings.Builder
	for {
		token, err := x.Token()
		if err == io.EOF {
			return d, d.readSheets(sheets.String())
		}
		top := within[len(within)-1]
		switch t := token.(type) {
		case xml.StartElement:
			p := &part{element: t.Name.Local, refers: []string{t.Name.Local}}
			err = d.readAttributes(p, t.Attr)
			top.children, within = append(top.children, p), append(within, p)
			sheets.WriteString("\n") // between two of them
		case xml.EndElement:
			within = within[:len(within)-1]
		case xml.CharData:
			if top.element == "style" {
				sheets.Write(t)
			}
		case xml.Directive:
			for _, m := range entity.FindAllSubmatch(t, -1) {
				x.Entity[string(m[1])] = string(m[2]) + string(m[3])
			}
			if !doctype.Match(t) || strings.Count(string(t), "<!") > len(x.Entity) { // the first of a name counts
				err = errExpands
			}
		case xml.ProcInst:
			if t.Target == "xml-stylesheet" {
				err = errExpands
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// readAttributes notes what an element is called, and to what it refers.
func (d *drawing) readAttributes(p *part, attributes []xml.Attr) error {
	for _, a := range attributes {
		name, value := a.Name.Local, strings.Join(strings.Fields(a.Value), "")
		switch {
		case name == "id":
			p.refers = append(p.refers, a.Value)
			if id := "#" + oddID.ReplaceAllString(value, ""); id != "#"+a.Value {
				d.named[id] = &part{weight: endless}
			} else if d.named[id] == nil {
				d.named[id] = p
			}
		case name == "class":
			p.refers = append(p.refers, strings.Fields(a.Value)...)
		case name == "href" && p.element == "a", name != "href" && a.Name.Space != "", unpainted.MatchString(name):
		case hiding.MatchString(value), animations[p.element] && animated.MatchString(value):
			return errExpands
		default:
			if name == "d" || name == "points" {
				p.vertices += len(value) / 2
			}
			d.markers = d.markers || markers.MatchString(name+value)
			for _, m := range reference.FindAllStringSubmatch(value, -1) {
				p.refers = append(p.refers, "#"+m[1])
			}
		}
	}
	return nil
}

var (
	cssRule       = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	cssWord       = regexp.MustCompile(`[\w-]+`)
	cssString     = regexp.MustCompile(`"[^"'{}\r\n]*"|'[^'"{}\r\n]*'`)
	plainSelector = regexp.MustCompile(`^[\w\s.,#>+~-]+$`)

	// unclear finds, outside of strings, what may hide braces, and rules for other elements than
	// they name.
	unclear = regexp.MustCompile(`(?i)keyframes|/\*|\\|["']|[(\[][^)\]]*[{}]`)
)

// readSheets notes to what style sheets refer, by the elements, ids and classes that their rules
// mention.
func (d *drawing) readSheets(css string) error {
	if hiding.MatchString(strings.Join(strings.Fields(css), "")) {
		return errExpands
	}
	d.markers = d.markers || markers.MatchString(css)
	left := len(d.referred(css))
	if left > 0 && unclear.MatchString(cssString.ReplaceAllString(css, "")) {
		return errExpands
	}
	for i, m := range cssRule.FindAllStringSubmatch(css, -1) {
		rule := &part{refers: d.referred(m[2])}
		if len(rule.refers) == 0 || !plainSelector.MatchString(m[1]) {
			continue
		}
		left -= len(rule.refers)
		key := fmt.Sprint("rule ", i)
		d.named[key] = rule
		for _, name := range cssWord.FindAllString(m[1], -1) {
			if d.named[name] == nil {
				d.named[name] = &part{}
			}
			d.named[name].refers = append(d.named[name].refers, key)
		}
	}
	if left > 0 { // in no plain rule
		return errExpands
	}
	return nil
}

// referred are the names of elements to which CSS refers.
func (d *drawing) referred(css string) (names []string) {
	for _, m := range reference.FindAllStringSubmatch("{"+css, -1) {
		if name := "#" + m[1]; d.named[name] != nil {
			names = append(names, name)
		}
	}
	return names
}
