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
// pictures are put into the page, links are turned into such as work from there, and drawings become pictures. Then the
// policy has the last word on every element and attribute.
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
		return piece{html: "<pre>" + html.EscapeString(noPlaces.Replace(text)) + "</pre>", shows: true}
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(out.String(), "<div>"), "</div>")
	s.html = strings.ReplaceAll(policy.Sanitize(inner), "/>", ">") // no other > stays as it is
	return s.piece
}

// sanitiser goes through a piece of HTML.
type sanitiser struct {
	renderer *notebookRenderer
	piece
}

func (s *sanitiser) children(of *dom.Node) {
	for _, n := range slices.Collect(of.ChildNodes()) { // which may leave or become others
		s.node(n)
	}
}

func (s *sanitiser) node(n *dom.Node) {
	switch {
	case n.Type == dom.TextNode:
		s.shows = s.shows || strings.TrimSpace(n.Data) != ""
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
		s.children(n)
	}
}

// attributes turns addresses into such as the page can have. What else there is the policy knows.
func (s *sanitiser) attributes(n *dom.Node) {
	given := n.Attr
	n.Attr = nil
	for _, a := range given {
		a.Val = noPlaces.Replace(a.Val)
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

// picture puts a picture into the page, or its words where it cannot be shown: as a link if it lies elsewhere.
func (s *sanitiser) picture(n *dom.Node) {
	src := slices.IndexFunc(n.Attr, func(a dom.Attribute) bool { return a.Key == "src" })
	if src < 0 {
		n.Parent.RemoveChild(n)
		return
	}
	s.shows = true
	address := strings.TrimSpace(n.Attr[src].Val)
	uri, err := s.renderer.pictureURI(address)
	words := cmp.Or(strings.TrimSpace(attribute(n, "alt")), strings.TrimSpace(attribute(n, "title")))
	switch {
	case err == nil:
		n.Attr[src].Val = uri
	case !isRemote(address):
		s.renderer.leave(`picture "%s": %v`, short(address), err)
		become(n, "em", fmt.Sprintf("[%s: %v]", cmp.Or(words, "picture "+short(address)), err))
	default:
		words = cmp.Or(words, short(path.Base(address)), "picture")
		if slices.ContainsFunc(slices.Collect(n.Ancestors()), func(a *dom.Node) bool { return a.Data == "a" }) { // a badge
			n.Type, n.Data, n.Attr = dom.TextNode, words, nil
			return
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
	if text != "" {
		n.AppendChild(&dom.Node{Type: dom.TextNode, Data: text})
	}
}

func isRemote(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "//")
}

// drawing makes a picture of a drawing in the page: within a picture nothing runs and nothing loads.
func (s *sanitiser) drawing(n *dom.Node) {
	var source strings.Builder
	err := dom.Render(&source, n)
	file := ""
	if err == nil {
		file, err = drawingFile(source.String())
	}
	if err != nil {
		s.renderer.leave("a drawing (<svg>) in HTML: %v", err)
		s.missed = cmp.Or(s.missed, "svg")
		n.Parent.RemoveChild(n)
		return
	}
	s.shows = true
	picture := &dom.Node{Type: dom.ElementNode}
	become(picture, "img", "", dom.Attribute{Key: "alt", Val: attribute(n, "aria-label")},
		dom.Attribute{Key: "src", Val: imageURI("image/svg+xml", []byte(file))}, dom.Attribute{Key: "style", Val: attribute(n, "style")})
	n.Parent.InsertBefore(picture, n)
	n.Parent.RemoveChild(n)
}

func attribute(n *dom.Node, name string) string {
	at := slices.IndexFunc(n.Attr, func(a dom.Attribute) bool { return a.Key == name })
	if at < 0 {
		return ""
	}
	return n.Attr[at].Val
}
