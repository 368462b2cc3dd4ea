package report

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// What outputs and texts may bring into a page: text, tables, pictures that lie in the page itself,
// links that a reader may follow, and bars as those of package nb, whose figures come as data. No script, handler,
// style sheet, frame, form or address that a browser would load or go to by itself.

// allowed are the elements; all others lose their tags, and those of left their contents too.
var allowed = strings.Fields(`a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup dd
	del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd li main
	mark meter nav ol output p picture pre progress q rp rt ruby s samp section small span strike strong sub
	summary sup table tbody td tfoot th thead time tr tt u ul var wbr`)

// left are elements that go with all they hold.
var left = words(`applet audio button canvas datalist embed form frameset iframe
	map math noembed noframes noscript object option plaintext portal script select source style svg template textarea
	title video xmp`)

// missed are those of them that a reader would miss.
var missed = words(`applet audio canvas embed iframe object script video`)

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
	number   = regexp.MustCompile(`^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$`)
	pixels   = regexp.MustCompile(`^[0-9]{1,4}(?:px|%)?$`)
	few      = regexp.MustCompile(`^[1-9][0-9]?$`) // cells of a table that one takes
	set      = regexp.MustCompile(`^(?i:true|false|hidden|checked|disabled|open|reversed)?$`)
)

// policy has the last word on what comes from notebooks.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(allowed...)
	p.AllowNoAttrs().OnElements(allowed...)
	p.AllowAttrs("title", "lang", "dir").Globally()
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(?i:left|right|center|justify)$`)).Globally()
	p.AllowAttrs("valign").Matching(regexp.MustCompile(`^(?i:top|middle|bottom|baseline)$`)).Globally()
	p.AllowAttrs("class").Matching(class).OnElements("a", "div", "img", "p", "span")
	p.AllowAttrs("id").Matching(target).OnElements("a", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "section", "span", "sup")
	p.AllowAttrs("hidden").Matching(set).OnElements("div", "span")
	p.AllowAttrs("open").Matching(set).OnElements("details")
	p.AllowAttrs("reversed").Matching(set).OnElements("ol")
	p.AllowAttrs("start", "value").Matching(number).OnElements("ol", "li")
	p.AllowAttrs("colspan", "rowspan").Matching(few).OnElements("td", "th")
	p.AllowAttrs("width", "height").Matching(pixels).OnElements("img", "table", "td", "th", "col")

	p.AllowAttrs("type").Matching(regexp.MustCompile(`^(?:range|checkbox)$`)).OnElements("input")
	p.AllowAttrs("min", "max", "value", "step").Matching(number).OnElements("input", "progress", "meter")
	p.AllowAttrs("checked", "disabled").Matching(set).OnElements("input")
	p.AllowAttrs("aria-label", "aria-valuetext").OnElements("input")

	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)

	p.AllowURLSchemeWithCustomPolicy("data", func(u *url.URL) bool { return embedded.MatchString(u.String()) })
	p.AllowAttrs("src").Matching(embedded).OnElements("img")
	p.AllowAttrs("alt").OnElements("img")

	p.AllowStyles("width", "max-width", "min-width", "height", "max-height", "min-height", "margin", "margin-left", "margin-right", "margin-top",
		"margin-bottom", "padding", "padding-left", "padding-right", "padding-top", "padding-bottom", "color", "background-color", "border-color",
		"border-style", "border-width", "border-collapse", "display", "font-family", "font-size", "font-style", "font-weight", "line-height",
		"text-align", "text-decoration", "vertical-align", "white-space").Globally()
	return p
}
