package report

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	dom "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// sanitise makes a piece of HTML harmless. It is read as a browser reads it, so that no piece
// changes what comes after it; formulas are found, pictures are put into the page, links are turned
// into such as work from there, and drawings become pictures. Then the policy has the last word on
// every element and attribute. HTML that exceeds its bounds is shown as typed.
func (r *notebookRenderer) sanitise(text, typed string) string {
	if !spend(&r.left.nodes, nodesOf(text)) {
		return r.tooMuch(typed, "HTML", "has too many elements")
	}
	var out strings.Builder
	body := &dom.Node{Type: dom.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := dom.ParseFragment(strings.NewReader(text), body)
	for _, n := range nodes {
		body.AppendChild(n)
	}
	r.children(body, false)
	if err == nil {
		err = dom.Render(&out, body)
	}
	if err != nil { // elements that lie in each other too deeply
		return r.tooMuch(typed, "HTML", err.Error())
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(out.String(), "<div>"), "</div>")
	if r.left.made -= len(inner); r.left.made > 0 {
		clean := strings.ReplaceAll(policy.Sanitize(inner), "/>", ">") // no other > stays as it is
		if spend(&r.left.shown, len(clean)) {
			return r.putFormulas(clean)
		}
	}
	return r.tooMuch(typed, "HTML", "is too long for the page")
}

// codeTags are those between which a dollar is a dollar.
var codeTags, headingTags = words(`code kbd pre samp tt`), words(`h1 h2 h3 h4 h5 h6`)

// children goes through what an element holds, which may leave or become something else. A link may
// show its address.
func (r *notebookRenderer) children(of *dom.Node, code bool) {
	code = code || codeTags[of.Data] || of.Data == "a" && strings.Contains(textIn(of), "://")
	for _, n := range slices.Collect(of.ChildNodes()) {
		switch {
		case n.Type == dom.TextNode && !code:
			n.Data = r.markFormulas(n.Data)
		case n.Type == dom.ElementNode:
			r.element(n, code)
		}
	}
}

func (r *notebookRenderer) element(n *dom.Node, code bool) {
	switch {
	case n.Data == "svg":
		r.drawing(n)
		r.picture(n)
		return
	case n.Data == "img":
		r.picture(n)
		return
	case left[n.Data]:
		if r.misses(n) && (r.missed == "" || unseen[r.missed]) {
			r.missed = n.Data
		}
		n.Parent.RemoveChild(n)
		return
	case n.Data == "a":
		for i := range n.Attr {
			switch a := &n.Attr[i]; a.Key {
			case "href":
				a.Val = r.link(a.Val)
			case "name":
				a.Key = "id"
			}
		}
	case headingTags[n.Data]:
		r.heading(n)
	case n.Data == "code" && slices.Contains(strings.Fields(attribute(n, "class")), "language-mermaid"):
		r.leave("a diagram in mermaid: its code is shown")
	}
	r.children(n, code)
}

// longestHeading has a name.
const longestHeading = 1000

// heading names a heading, or takes it out for the page's.
func (r *notebookRenderer) heading(n *dom.Node) {
	words := strings.Join(strings.Fields(textIn(n)), " ")
	if words == "" || len(words) > longestHeading {
		return
	}
	jupyter, github := r.ids.names(words)
	id := cmp.Or(attribute(n, "id"), jupyter)
	n.Attr = append(slices.DeleteFunc(n.Attr, func(a dom.Attribute) bool {
		return a.Key == "id"
	}), dom.Attribute{Key: "id", Val: id})
	if github != "" {
		n.InsertBefore(&dom.Node{Type: dom.ElementNode, Data: "a", Attr: []dom.Attribute{{Key: "id", Val: github}}},
			n.FirstChild)
	}
	if r.takeHeading(n.Data[1:], id, github, words) {
		n.Parent.RemoveChild(n)
	}
}

var elsewhere = regexp.MustCompile(`^(?i:https?:)?//`)

// picture puts a picture into the page, or its words where it cannot be shown: as a link if it lies
// elsewhere.
func (r *notebookRenderer) picture(n *dom.Node) {
	address := strings.TrimSpace(attribute(n, "src"))
	words := cmp.Or(strings.TrimSpace(attribute(n, "alt")), strings.TrimSpace(attribute(n, "title")))
	switch {
	case address == "":
		n.Parent.RemoveChild(n)
	case elsewhere.MatchString(address):
		words = cmp.Or(words, short(path.Base(address)), "picture")
		for a := range n.Ancestors() {
			if a.Data == "a" { // a badge
				become(n, "span", words)
				return
			}
		}
		r.leave(`picture "%s" lies elsewhere: a link leads there`, short(address))
		if strings.HasPrefix(address, "//") {
			address = "https:" + address
		}
		become(n, "a", words, dom.Attribute{Key: "href", Val: address})
	default:
		place, err := r.pictures.place(r, address)
		for i, a := range n.Attr {
			if a.Key == "src" {
				n.Attr[i].Val = place
			}
		}
		if err != nil {
			name, _, _ := strings.Cut(address, ";base64,")
			r.leave(`picture "%s": %v`, short(name), err)
			become(n, "em", fmt.Sprintf("[%s: %v]", cmp.Or(words, "picture "+short(name)), err))
		}
	}
}

// become makes another element of a node, with a text in it.
func become(n *dom.Node, element, text string, attributes ...dom.Attribute) {
	n.Data, n.DataAtom, n.Attr = element, 0, attributes
	n.AppendChild(&dom.Node{Type: dom.TextNode, Data: text})
}

// drawing makes a picture of a drawing in the page: within a picture nothing runs and nothing
// loads.
func (r *notebookRenderer) drawing(n *dom.Node) {
	var source strings.Builder
	if err := dom.Render(&source, n); err != nil {
		source.Reset() // nested too deeply
	}
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
	n.Namespace, n.Data, n.DataAtom, n.Attr = "", "img", atom.Img, []dom.Attribute{
		{Key: "alt", Val: attribute(n, "aria-label")}, {Key: "src", Val: dataAddress("image/svg+xml", source.String())},
		{Key: "style", Val: attribute(n, "style")},
	}
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
	return b.String()
}
