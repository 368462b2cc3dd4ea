package report

import (
	"cmp"
	"fmt"
	"html"
	"path"
	"slices"
	"strings"

	dom "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// piece is a piece of HTML as a page may hold it.
type piece struct {
	html   string
	shows  bool   // it has text or a picture
	missed string // the first element left out that a reader would miss
}

// sanitise makes a piece of HTML harmless. It is read as a browser reads it, so that no piece changes what comes after it;
// formulas are found, pictures are put into the page, links are turned into such as work from there, and drawings become
// pictures. Then the policy has the last word on every element and attribute.
func (r *notebookRenderer) sanitise(text string) piece {
	s := &sanitiser{renderer: r}
	var out strings.Builder
	body := &dom.Node{Type: dom.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := dom.ParseFragment(strings.NewReader(text), body)
	for _, n := range nodes {
		body.AppendChild(n)
	}
	s.children(body)
	if err == nil {
		err = dom.Render(&out, body)
	}
	if err != nil { // elements that lie in each other too deeply
		r.leave("HTML: %v", err)
		return piece{html: "<pre>" + html.EscapeString(noMarks.Replace(text)) + "</pre>", shows: true}
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(out.String(), "<div>"), "</div>")
	s.html = r.putFormulas(strings.ReplaceAll(policy.Sanitize(inner), "/>", ">")) // no other > stays as it is
	return s.piece
}

// sanitiser goes through a piece of HTML.
type sanitiser struct {
	renderer *notebookRenderer
	code     bool // a dollar is a dollar
	piece
}

var codeTags, headingTags = words(`code kbd pre samp tt`), words(`h1 h2 h3 h4 h5 h6`)

func (s *sanitiser) children(of *dom.Node) {
	code := s.code
	s.code = code || codeTags[of.Data] || strings.Contains(attribute(of, "href"), "://") && strings.Contains(textIn(of), "://")
	for _, n := range slices.Collect(of.ChildNodes()) { // which may leave or become others
		s.node(n)
	}
	s.code = code
}

func (s *sanitiser) node(n *dom.Node) {
	switch {
	case n.Type == dom.TextNode:
		s.shows = s.shows || strings.TrimSpace(n.Data) != ""
		if s.code {
			n.Data = noMarks.Replace(n.Data)
		} else {
			n.Data = markFormulas(n.Data)
		}
	case n.Type != dom.ElementNode:
	case n.Data == "svg":
		s.drawing(n)
	case left[n.Data]:
		if missed[n.Data] {
			s.missed = cmp.Or(s.missed, n.Data)
		}
		n.Parent.RemoveChild(n)
	case n.Data == "img":
		s.attributes(n)
		s.picture(n)
	default:
		s.attributes(n)
		if headingTags[n.Data] {
			s.heading(n)
		}
		s.children(n)
	}
}

// attributes turns addresses into such as the page can have. What else there is the policy knows.
func (s *sanitiser) attributes(n *dom.Node) {
	given := n.Attr
	n.Attr = nil
	for _, a := range given {
		a.Val = noMarks.Replace(a.Val)
		switch n.Data + " " + a.Key {
		case "a href":
			to, ok := s.renderer.link(a.Val)
			if !ok {
				continue // its words stay
			}
			a.Val = to
		case "a name":
			a.Key = "id"
		}
		n.Attr = append(n.Attr, a)
	}
}

// heading names a heading that has no name.
func (s *sanitiser) heading(n *dom.Node) {
	words := strings.TrimSpace(textIn(n))
	if words == "" || attribute(n, "id") != "" {
		return
	}
	jupyter, github := s.renderer.ids.names(words)
	n.Attr = append(n.Attr, dom.Attribute{Key: "id", Val: jupyter})
	if github != "" {
		anchor := &dom.Node{Type: dom.ElementNode, Data: "a", Attr: []dom.Attribute{{Key: "id", Val: github}}}
		n.InsertBefore(anchor, n.FirstChild)
	}
}

// picture puts a picture into the page, or its words where it cannot be shown: as a link if it lies elsewhere.
func (s *sanitiser) picture(n *dom.Node) {
	address := strings.TrimSpace(attribute(n, "src"))
	if address == "" {
		n.Parent.RemoveChild(n)
		return
	}
	s.shows = true
	uri, err := s.renderer.pictureURI(address)
	words := cmp.Or(strings.TrimSpace(attribute(n, "alt")), strings.TrimSpace(attribute(n, "title")))
	switch {
	case err == nil:
		n.Attr = append(slices.DeleteFunc(n.Attr, func(a dom.Attribute) bool { return a.Key == "src" }), dom.Attribute{Key: "src", Val: uri})
	case !isRemote(address):
		s.renderer.leave(`picture "%s": %v`, short(address), err)
		become(n, "em", fmt.Sprintf("[%s: %v]", cmp.Or(words, "picture "+short(address)), err))
	default:
		words = cmp.Or(words, short(path.Base(address)), "picture")
		for a := range n.Ancestors() {
			if a.Data == "a" { // a badge
				become(n, "span", words)
				return
			}
		}
		s.renderer.leave(`picture "%s" lies elsewhere: a link leads there`, short(address))
		if strings.HasPrefix(address, "//") {
			address = "https:" + address
		}
		become(n, "a", words, dom.Attribute{Key: "href", Val: address})
	}
}

// become makes another element of a node, with a text in it.
func become(n *dom.Node, element, text string, attributes ...dom.Attribute) {
	n.Data, n.DataAtom, n.Attr = element, 0, attributes
	n.AppendChild(&dom.Node{Type: dom.TextNode, Data: text})
}

func isRemote(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "//")
}

// drawing makes a picture of a drawing in the page: within a picture nothing runs and nothing loads.
func (s *sanitiser) drawing(n *dom.Node) {
	var source strings.Builder
	err := dom.Render(&source, n)
	uri := ""
	if err == nil {
		uri, err = drawingURI(noMarks.Replace(source.String()))
	}
	if err != nil {
		s.renderer.leave("a drawing (<svg>) in HTML: %v", err)
		s.missed = cmp.Or(s.missed, "svg")
		n.Parent.RemoveChild(n)
		return
	}
	s.shows = true
	picture := &dom.Node{Type: dom.ElementNode, Data: "img", Attr: []dom.Attribute{
		{Key: "alt", Val: attribute(n, "aria-label")}, {Key: "src", Val: uri}, {Key: "style", Val: attribute(n, "style")},
	}}
	n.Parent.InsertBefore(picture, n)
	n.Parent.RemoveChild(n)
}

func attribute(n *dom.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textIn is the text of an element.
func textIn(n *dom.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == dom.TextNode {
			b.WriteString(d.Data)
		}
	}
	return noMarks.Replace(b.String())
}
