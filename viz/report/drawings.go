package report

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

const (
	drawingDepth = 500        // how deep elements of a drawing may lie in each other, or refer to each other
	drawingRules = 10_000_000 // of style sheets, for each element
)

var errExpands = errors.New("its elements refer to each other so often that drawing it takes too long")

// part is an element of a drawing.
type part struct {
	names    []string // its element's name, its id, its classes
	children []*part
	uses     []string // ids of what is drawn beside it, once
	paints   []string // ids of what each element within it may be painted with
	vertices int      // at which markers may stand
	weight   int      // 0 until it is known, -1 while it is asked for
}

// weighDrawing is the number of elements that a browser draws: each as often as others refer to it. It errs on the side of more.
func weighDrawing(source string) (int, error) {
	root, err := partsOf(source)
	if err != nil {
		return 0, err
	}
	return root.weigh(root.byID(map[string]*part{}), 0)
}

func (p *part) byID(ids map[string]*part) map[string]*part {
	if id := p.names[1]; id != "" && ids[id] == nil {
		ids[id] = p
	}
	for _, c := range p.children {
		c.byID(ids)
	}
	return ids
}

func (p *part) weigh(ids map[string]*part, depth int) (int, error) {
	if p.weight < 0 || depth > drawingDepth {
		return 0, errExpands
	}
	if p.weight > 0 {
		return p.weight, nil
	}
	p.weight = -1
	sum := func(n int, children []*part, names []string) (int, error) {
		for _, id := range names {
			if q := ids[id]; q != nil {
				children = append(children, q)
			}
		}
		for _, q := range children {
			w, err := q.weigh(ids, depth+1)
			if n = min(math.MaxInt32, n+w); err != nil {
				return 0, err
			}
		}
		return n, nil
	}
	drawn, err := sum(1+p.vertices, slices.Clip(p.children), p.uses)
	painted, err2 := sum(1, nil, p.paints)
	p.weight = min(math.MaxInt32, drawn*painted)
	return p.weight, cmp.Or(err, err2)
}

var (
	reference  = regexp.MustCompile(`#([^\s"'();,]+)`)
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssRule    = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	cssWord    = regexp.MustCompile(`[\w-]+`)
	entity     = regexp.MustCompile(`<!ENTITY\s+([\w.:-]+)\s+(?:"([^"<&%#]{0,200})"|'([^'<&%#]{0,200})')\s*>`)
	drawnOnce  = words(`href clip-path mask filter`)
	animations = words(`set animate animateMotion animateTransform`)

	// hiding finds values in which references could hide: other drawings and style sheets, letters that are written as numbers.
	hiding = regexp.MustCompile(`(?i)data:(?:image/svg|text)|@import|\\(?s:.*)\(|\((?s:.*)\\`)
)

// partsOf reads a drawing. One in which references could hide is refused.
func partsOf(source string) (*part, error) {
	d := xml.NewDecoder(strings.NewReader(source))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	d.Entity = map[string]string{}
	within := []*part{{names: []string{"", ""}}}
	var all []*part
	var rules strings.Builder
	markers := strings.Contains(source, "marker")
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			break
		}
		top := within[len(within)-1]
		switch t := token.(type) {
		case xml.StartElement:
			p := &part{names: []string{t.Name.Local, ""}}
			err = p.read(t.Attr, markers)
			top.children, within, all = append(top.children, p), append(within, p), append(all, p)
		case xml.EndElement:
			if within = within[:len(within)-1]; len(within) == 0 {
				err = errors.New("an element ends that did not begin")
			}
		case xml.CharData:
			if top.names[0] == "style" {
				rules.Write(t)
			}
		case xml.Directive:
			for _, m := range entity.FindAllStringSubmatch(string(t), -1) {
				d.Entity[m[1]] = m[2] + m[3]
			}
			if strings.Count(string(t), "<!ENTITY") > len(d.Entity) {
				err = errExpands
			}
		case xml.ProcInst:
			if t.Target == "xml-stylesheet" {
				err = errExpands
			}
		}
		if len(within) > drawingDepth {
			err = errExpands
		}
		if err != nil {
			return nil, err
		}
	}
	return within[0], applyRules(cssComment.ReplaceAllString(rules.String(), ""), all)
}

// read notes the names of an element, and to what its attributes refer.
func (p *part) read(attributes []xml.Attr, markers bool) error {
	for _, a := range attributes {
		name, value := a.Name.Local, a.Value
		switch {
		case a.Name.Space != "" && a.Name.Space != "xlink", name == "content": // what editors keep for themselves
		case name == "id":
			p.names[1] = value
		case name == "class":
			p.names = append(p.names, strings.Fields(value)...)
		case hiding.MatchString(value), animations[p.names[0]] && (strings.Contains(value, "url(") || value == "href"):
			return errExpands
		case (name == "d" || name == "points") && markers:
			p.vertices += len(value) / 8
		case name == "style":
			if err := p.declare(value); err != nil {
				return err
			}
		case name != "href" || p.names[0] != "a" && !animations[p.names[0]]:
			p.refer(name, value)
		}
	}
	return nil
}

// declare notes to what declarations of a style refer.
func (p *part) declare(declarations string) error {
	for declaration := range strings.SplitSeq(declarations, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if strings.HasPrefix(name, "--") && strings.Contains(value, "#") && strings.Contains(value, "(") || drawnOnce[name] && strings.Contains(value, "inherit") {
			return errExpands
		}
		p.refer(name, value)
	}
	return nil
}

func (p *part) refer(name, value string) {
	for _, m := range reference.FindAllStringSubmatch(value, -1) {
		if drawnOnce[name] {
			p.uses = append(p.uses, m[1])
		} else {
			p.paints = append(p.paints, m[1])
		}
	}
}

// applyRules notes what style sheets refer to, for all elements that they may mean.
func applyRules(rules string, all []*part) error {
	found := cssRule.FindAllStringSubmatch(rules, -1)
	if hiding.MatchString(rules) || strings.Contains(cssRule.ReplaceAllString(rules, ""), "#") || len(found)*len(all) > drawingRules {
		return errExpands
	}
	for _, m := range found {
		if !strings.Contains(m[2], "#") || !strings.Contains(m[2], "(") {
			continue
		}
		named, every := words(strings.Join(cssWord.FindAllString(m[1], -1), " ")), strings.ContainsAny(m[1], "*[:")
		for _, p := range all {
			if every || slices.ContainsFunc(p.names, func(name string) bool { return named[name] }) {
				if err := p.declare(m[2]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
