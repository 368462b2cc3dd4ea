package report

import (
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	htmltoken "golang.org/x/net/html"
)

// maxElements bounds how deeply the elements of an output or a text may lie in each other.
const maxElements = 100

// sanitise returns a piece of HTML as a page may hold it. It goes through it twice: first pictures
// are put into the page, links are turned into such as work from there, drawings become pictures,
// and all elements are closed, so that no piece changes what comes after it; then the policy has
// the last word on every element and attribute. Where a reader would miss what the page cannot
// hold, such as a script, a note says so.
func (r *notebookRenderer) sanitise(c *cell, text string, policy *bluemonday.Policy, formulas []formula) (string, error) {
	s := &sanitiser{renderer: r, cell: c, formulas: formulas, dropped: map[string]int{}}
	if err := s.read(text); err != nil {
		return "", err
	}
	out := policy.Sanitize(s.out.String())
	if s.missed != "" {
		out += fmt.Sprintf(`<p class="note">(A part of this that needs a running notebook, &lt;%s&gt;, was left out.)</p>`, html.EscapeString(s.missed))
	}
	return out, s.failed.err()
}

// sanitiser goes through a piece of HTML.
type sanitiser struct {
	renderer *notebookRenderer
	cell     *cell
	formulas []formula

	out     strings.Builder
	open    []string
	dropped map[string]int // start tags that were left out, whose end tags go too
	missed  string         // the first element left out that a reader would miss
	failed  mistakes
}

func (s *sanitiser) read(text string) error {
	z := htmltoken.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case htmltoken.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				return z.Err()
			}
			s.closeTo(0)
			return nil
		case htmltoken.TextToken:
			s.out.WriteString(html.EscapeString(string(z.Text())))
		case htmltoken.StartTagToken, htmltoken.SelfClosingTagToken:
			s.start(z)
		case htmltoken.EndTagToken:
			name, _ := z.TagName()
			s.end(string(name))
		}
	}
}

// void are the elements that hold nothing.
var void = words(`area base basefont bgsound br col embed frame hr img input link meta param source track wbr`)

func (s *sanitiser) start(z *htmltoken.Tokenizer) {
	raw := string(z.Raw()) // before the token changes it
	token := z.Token()
	name := token.Data
	switch {
	case name == "svg":
		s.drawing(z, raw, token.Type == htmltoken.SelfClosingTagToken)
		return
	case left[name]:
		if missed[name] && s.missed == "" {
			s.missed = name
		}
		if !void[name] && token.Type != htmltoken.SelfClosingTagToken || rawText[name] {
			skip(z, name, nil)
		}
		return
	case !allowed[name]:
		return
	}
	for _, closed := range implied[name] {
		if n := len(s.open) - 1; n >= 0 && s.open[n] == closed {
			s.closeTo(n)
		}
	}
	attributes, ok := s.attributes(name, token.Attr)
	if !ok || !void[name] && len(s.open) >= maxElements {
		if !void[name] {
			s.dropped[name]++
		}
		return
	}
	s.tag(name, attributes)
	if !void[name] {
		s.open = append(s.open, name)
	}
}

// rawText are elements of which a browser takes no notice that they close themselves, and reads all up
// to the end tag as text.
var rawText = words(`iframe noembed noframes noscript plaintext script style textarea title xmp`)

// skip goes to the end of an element, which has begun, and gives what it passes to keep.
func skip(z *htmltoken.Tokenizer, name string, keep func(raw []byte)) {
	for depth := 1; depth > 0; {
		kind := z.Next()
		if kind == htmltoken.ErrorToken {
			return
		}
		if keep != nil {
			keep(z.Raw())
		}
		if tag, _ := z.TagName(); string(tag) == name {
			switch kind {
			case htmltoken.StartTagToken:
				depth++
			case htmltoken.EndTagToken:
				depth--
			}
		}
	}
}

// implied are the elements that the start of another closes: <li> a list's item before it.
var implied = map[string][]string{
	"li": {"li"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"}, "td": {"td", "th"}, "th": {"td", "th"}, "tr": {"td", "th", "tr"},
	"tbody": {"td", "th", "tr", "thead", "tbody"}, "tfoot": {"td", "th", "tr", "thead", "tbody"}, "a": {"a"},
	"p": {"p"}, "div": {"p"}, "ul": {"p"}, "ol": {"p"}, "dl": {"p"}, "table": {"p"}, "pre": {"p"}, "blockquote": {"p"}, "hr": {"p"},
	"h1": {"p"}, "h2": {"p"}, "h3": {"p"}, "h4": {"p"}, "h5": {"p"}, "h6": {"p"}, "section": {"p"}, "figure": {"p"}, "details": {"p"},
}

func (s *sanitiser) end(name string) {
	switch at := lastIndex(s.open, name); {
	case s.dropped[name] > 0:
		s.dropped[name]--
	case at >= 0:
		s.closeTo(at)
	}
}

func lastIndex(open []string, name string) int {
	for i, other := range slices.Backward(open) {
		if other == name {
			return i
		}
	}
	return -1
}

func (s *sanitiser) closeTo(n int) {
	for i := len(s.open) - 1; i >= n; i-- {
		s.out.WriteString("</" + s.open[i] + ">")
	}
	s.open = s.open[:n]
}

// attribute is a name and its value.
type attribute struct{ name, value string }

func (s *sanitiser) tag(name string, attributes []attribute) {
	s.out.WriteString("<" + name)
	for _, a := range attributes {
		s.out.WriteString(" " + a.name + `="` + html.EscapeString(a.value) + `"`)
	}
	s.out.WriteString(">")
}

// attributes turns addresses into such as the page can have; false if the element is nothing without.
func (s *sanitiser) attributes(element string, given []htmltoken.Attribute) ([]attribute, bool) {
	var out []attribute
	seen := map[string]bool{}
	kind := ""
	for _, a := range given {
		if seen[a.Key] || a.Namespace != "" || strings.ContainsAny(a.Key, "<>\"'`=&") {
			continue
		}
		seen[a.Key] = true
		value := sourceMaths(a.Val, s.formulas)
		switch {
		case element == "a" && a.Key == "href":
			to, ok := s.renderer.link(value)
			if !ok {
				return nil, false // its words stay
			}
			value = to
		case element == "img" && a.Key == "src", element == "source" && a.Key == "srcset":
			uri, err := s.renderer.notebook.pictureURI(s.cell, value)
			if err != nil {
				s.failed.add(err)
				return nil, false
			}
			value = uri
		case element == "img" && a.Key == "srcset": // src is enough
			continue
		case element == "input" && a.Key == "type":
			kind = strings.ToLower(value)
			value = kind
		}
		out = append(out, attribute{a.Key, value})
	}
	switch element {
	case "input":
		return out, kind == "range" || kind == "checkbox"
	case "img":
		return out, seen["src"]
	case "source":
		return out, seen["srcset"]
	}
	return out, true
}

// drawing makes a picture of a drawing in the page: within a picture nothing runs and nothing loads.
func (s *sanitiser) drawing(z *htmltoken.Tokenizer, begin string, closed bool) {
	var svg strings.Builder
	svg.WriteString(begin)
	if !closed {
		skip(z, "svg", func(raw []byte) { svg.Write(raw) })
	}
	d, err := cleanSVG([]byte(svg.String()))
	if err != nil {
		s.missed = "svg"
		return
	}
	attributes := []attribute{{"alt", d.title}, {"src", d.uri()}}
	if !d.sized {
		attributes = append(attributes, attribute{"style", "width:100%"})
	}
	s.tag("img", attributes)
}
