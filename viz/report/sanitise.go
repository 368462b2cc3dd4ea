package report

import (
	"cmp"
	"fmt"
	"html"
	"path"
	"slices"
	"strings"

	htmltoken "golang.org/x/net/html"
)

// maxElements bounds how deeply the elements of an output or a text may lie in each other.
const maxElements = 100

// piece is a piece of HTML as a page may hold it.
type piece struct {
	html   string
	shows  bool   // it has text or a picture
	missed string // the first element left out that a reader would miss
}

// sanitise makes a piece of HTML harmless. It goes through it twice: first pictures are put into the page, links are turned
// into such as work from there, drawings become pictures, and all elements are closed, so that no piece changes what comes
// after it; then the policy has the last word on every element and attribute.
func (r *notebookRenderer) sanitise(text string) piece {
	s := &sanitiser{renderer: r, z: htmltoken.NewTokenizer(strings.NewReader(text))}
	for s.next() {
	}
	s.closeTo(0)
	s.html = policy.Sanitize(s.out.String())
	return s.piece
}

// sanitiser goes through a piece of HTML.
type sanitiser struct {
	renderer *notebookRenderer
	z        *htmltoken.Tokenizer
	out      strings.Builder
	open     []string
	piece
}

func (s *sanitiser) next() bool {
	switch s.z.Next() {
	case htmltoken.ErrorToken:
		return false
	case htmltoken.TextToken:
		s.text(string(s.z.Text()))
	case htmltoken.StartTagToken, htmltoken.SelfClosingTagToken:
		s.start()
	case htmltoken.EndTagToken:
		name, _ := s.z.TagName()
		s.end(string(name))
	}
	return true
}

func (s *sanitiser) text(text string) {
	s.shows = s.shows || strings.TrimSpace(text) != ""
	s.out.WriteString(html.EscapeString(text))
}

var (
	// void are the elements that hold nothing.
	void = words(`area base basefont bgsound br col embed frame hr img input link meta param source track wbr`)
	// unclosed are elements that others close, so that many have no end tag.
	unclosed = words(`dd dt li p tbody td tfoot th thead tr`)
	// rawText are elements of which a browser takes no notice that they close themselves, and reads all up
	// to the end tag as text.
	rawText = words(`iframe noembed noframes noscript plaintext script style textarea title xmp`)
)

func (s *sanitiser) start() {
	raw := string(s.z.Raw()) // before the token changes it
	token := s.z.Token()
	name := token.Data
	closed := void[name] || token.Type == htmltoken.SelfClosingTagToken && !rawText[name]
	switch {
	case name == "svg":
		s.drawing(raw, closed)
	case left[name]:
		if missed[name] {
			s.missed = cmp.Or(s.missed, name)
		}
		if !closed {
			s.skip(name, func([]byte) {})
		}
	case name == "img":
		s.picture(token.Attr)
	case !allowed[name], !void[name] && len(s.open) >= maxElements:
	default:
		s.tag(name, s.attributes(name, token.Attr)...)
		if !void[name] && !unclosed[name] {
			s.open = append(s.open, name)
		}
	}
}

// skip goes to the end of an element, which has begun, and gives what it passes to keep.
func (s *sanitiser) skip(name string, keep func(raw []byte)) {
	for depth := 1; depth > 0; {
		kind := s.z.Next()
		if kind == htmltoken.ErrorToken {
			return
		}
		keep(s.z.Raw())
		if tag, _ := s.z.TagName(); string(tag) == name {
			switch kind {
			case htmltoken.StartTagToken:
				depth++
			case htmltoken.EndTagToken:
				depth--
			}
		}
	}
}

func (s *sanitiser) end(name string) {
	switch at := lastIndex(s.open, name); {
	case unclosed[name]:
		s.out.WriteString("</" + name + ">")
	case at >= 0:
		s.closeTo(at)
	}
}

func (s *sanitiser) closeTo(n int) {
	for i := len(s.open) - 1; i >= n; i-- {
		s.out.WriteString("</" + s.open[i] + ">")
	}
	s.open = s.open[:n]
}

func (s *sanitiser) tag(name string, attributes ...htmltoken.Attribute) {
	s.out.WriteString(htmltoken.Token{Type: htmltoken.StartTagToken, Data: name, Attr: attributes}.String())
}

// attributes turns addresses into such as the page can have. What else there is the policy knows.
func (s *sanitiser) attributes(element string, given []htmltoken.Attribute) (out []htmltoken.Attribute) {
	for _, a := range given {
		a.Val = noPlaces.Replace(a.Val)
		switch element + " " + a.Key {
		case "a href":
			to, ok := s.renderer.link(a.Val)
			if !ok {
				continue // its words stay
			}
			a.Val = to
		case "a name":
			a.Key = "id"
		}
		out = append(out, a)
	}
	return out
}

// picture writes a picture, or its words where it cannot be shown: as a link if it lies elsewhere.
func (s *sanitiser) picture(given []htmltoken.Attribute) {
	given = s.attributes("img", given)
	src := slices.IndexFunc(given, func(a htmltoken.Attribute) bool { return a.Key == "src" })
	if src < 0 {
		return
	}
	s.shows = true
	address := strings.TrimSpace(given[src].Val)
	uri, err := s.renderer.pictureURI(address)
	if err == nil {
		given[src].Val = uri
		s.tag("img", given...)
		return
	}
	words := ""
	for _, a := range given {
		if a.Key == "alt" || a.Key == "title" && words == "" {
			words = strings.TrimSpace(a.Val)
		}
	}
	if !isRemote(address) {
		s.renderer.leave(`picture "%s": %v`, short(address), err)
		fmt.Fprintf(&s.out, `<em>[%s: %s]</em>`, html.EscapeString(cmp.Or(words, "picture "+short(address))), html.EscapeString(err.Error()))
		return
	}
	words = cmp.Or(words, short(path.Base(address)), "picture")
	if slices.Contains(s.open, "a") { // a badge
		s.text(words)
		return
	}
	s.renderer.leave(`picture "%s" lies elsewhere: a link leads there`, short(address))
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	s.tag("a", htmltoken.Attribute{Key: "href", Val: address})
	s.text(words)
	s.out.WriteString("</a>")
}

func isRemote(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "//")
}

// drawing makes a picture of a drawing in the page: within a picture nothing runs and nothing loads.
func (s *sanitiser) drawing(begin string, closed bool) {
	var source strings.Builder
	source.WriteString(begin)
	if !closed {
		s.skip("svg", func(raw []byte) { source.Write(raw) })
	}
	file, root, err := drawingFile(source.String())
	if err != nil {
		s.renderer.leave("a drawing (<svg>) in HTML: %v", err)
		s.missed = cmp.Or(s.missed, "svg")
		return
	}
	s.shows = true
	attributes := []htmltoken.Attribute{{Key: "alt"}, {Key: "src", Val: imageURI("image/svg+xml", []byte(file))}}
	for _, a := range root.Attr {
		switch a.Name.Local {
		case "aria-label":
			attributes[0].Val = a.Value
		case "style":
			attributes = append(attributes, htmltoken.Attribute{Key: "style", Val: a.Value})
		}
	}
	s.tag("img", attributes...)
}

func lastIndex(open []string, name string) int {
	for i, other := range slices.Backward(open) {
		if other == name {
			return i
		}
	}
	return -1
}
