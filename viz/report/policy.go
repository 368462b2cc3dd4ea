package report

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	dom "golang.org/x/net/html"
)

// left are elements that go with all they hold.
var left = words(`applet area audio button canvas datalist embed form frameset iframe
	map math noembed noframes noscript object option plaintext portal script select source style svg template textarea
	title video xmp`)

// missed are the elements among them that a reader would miss, and in HTML, of which front ends
// show more than of texts, missedInHTML.
var (
	missed       = words(`applet audio canvas embed frameset iframe map math object video`)
	missedInHTML = words(`button form script select style textarea`)
)

// unseen are elements that show nothing themselves.
var unseen = words("script style")

// misses says whether a reader would miss an element that is left out. Tables of pandas have a
// style sheet that changes little, and some outputs say themselves what they lack.
func (r *notebookRenderer) misses(n *dom.Node) bool {
	return missed[n.Data] || missedInHTML[n.Data] && r.inHTML && !slices.ContainsFunc(n.Attr, func(a dom.Attribute) bool {
		return a.Key == "scoped" || a.Key == "data-optional"
	})
}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

var (
	embedded = regexp.MustCompile(`^data:image/[a-z+.-]+;base64,[A-Za-z0-9+/]+=*$`)
	class    = regexp.MustCompile(`^(?:footnote[a-z-]*|alert(?: alert-[a-z]+)*|term-[a-z0-9]+(?: term-[a-z0-9]+)*)$`)
	target   = regexp.MustCompile(`^[^\s"'<>]{1,200}$`) // of links
	set      = regexp.MustCompile(`^(?i:true|false|hidden|checked|disabled|reversed)?$`)
)

// policy has the last word on what outputs and texts may bring into a page: text, tables, pictures
// that lie in the page itself, links that a reader may follow, and bars as those of package nb,
// whose figures come as data. No script, handler, style sheet, frame, form or address that a
// browser would load or go to by itself.
var policy = func() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	others := strings.Fields("a address bdi bdo center del footer header img input ins kbd main nav output picture q " +
		"span time")
	p.AllowElements(others...)
	p.AllowNoAttrs().OnElements(others...)
	p.AllowAttrs("title", "lang", "dir").Globally()
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(?i:left|right|center|justify)$`)).Globally()
	p.AllowAttrs("class").Matching(class).OnElements("a", "div", "img", "p", "span")
	p.AllowAttrs("id").Matching(target).Globally()
	p.AllowAttrs("hidden", "reversed", "checked", "disabled").Matching(set).OnElements("div", "span", "ol", "input")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^(?:range|checkbox)$`)).OnElements("input")
	p.AllowAttrs("min", "max", "value", "step").Matching(bluemonday.Number).OnElements("input")
	p.AllowAttrs("aria-label", "aria-valuetext").OnElements("input")
	p.RequireNoFollowOnLinks(false)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.AllowURLSchemeWithCustomPolicy("data", func(u *url.URL) bool { return embedded.MatchString(u.String()) })
	p.AllowAttrs("alt").OnElements("img") // whatever they say
	p.AllowStyles("width", "max-width", "min-width", "height", "max-height", "min-height", "margin", "margin-left",
		"margin-right", "margin-top",
		"margin-bottom", "padding", "padding-left", "padding-right", "padding-top", "padding-bottom", "color",
		"background-color", "border-color",
		"border-style", "border-width", "border-collapse", "display", "font-family", "font-size", "font-style", "font-weight",
		"line-height",
		"text-align", "text-decoration", "vertical-align", "white-space").Globally()
	return p
}()
