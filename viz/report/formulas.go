package report

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	htmltoken "golang.org/x/net/html"
)

// formula is one that was found in a text.
type formula struct {
	tex     string
	display bool
}

// Until a text is harmless HTML, its formulas are numbers between two characters of a private plane.
const placeOpen, placeClose = "\uE000", "\uE001"

var (
	// places finds a formula's place, with the punctuation mark that follows it, if one does.
	places       = regexp.MustCompile(placeOpen + `(\d{1,9})` + placeClose + `([,.;:!?)]?)`)
	noPlaces     = strings.NewReplacer(placeOpen, "", placeClose, "")
	needsDisplay = regexp.MustCompile(`\\begin\{(?:align|gather|equation|multline|CD|split)|\\tag\b`)
	environment  = regexp.MustCompile(`^\\begin\{([A-Za-z]+\*?)\}`)
	reference    = regexp.MustCompile(`^\\(?:eq)?ref\{[^{}\n]*\}`)
)

// formulas are those of a text, which is Markdown or HTML.
type formulas []formula

func (f *formulas) place(found formula) string {
	*f = append(*f, found)
	return placeOpen + strconv.Itoa(len(*f)-1) + placeClose
}

// put puts the formulas back into harmless HTML, each into one place: a text may have the characters of places too, and
// would grow with each of them.
func (f formulas) put(clean string, typeset func(formula) string) string {
	put := make([]bool, len(f))
	return places.ReplaceAllStringFunc(clean, func(s string) string {
		m := places.FindStringSubmatch(s)
		i, mark := 0, m[2]
		if i, _ = strconv.Atoi(m[1]); i >= len(f) || put[i] {
			return mark
		}
		put[i] = true
		shown := typeset(f[i])
		if mark != "" {
			shown = `<span class="keep">` + shown + mark + "</span>" // no line begins with the mark
		}
		return shown
	})
}

// delimiters are those of formulas; double backslashes are Markdown's, single ones HTML's.
var delimiters = []struct {
	begin, end string
	display    bool
}{{"$$", "$$", true}, {"$", "$", false}, {`\\[`, `\\]`, true}, {`\\(`, `\\)`, false}, {`\[`, `\]`, true}, {`\(`, `\)`, false}}

// formulaAt reads a formula that begins a text, by Jupyter's rules; n is its length, 0 where there is none.
func formulaAt(text []byte, inHTML bool) (found formula, n int) {
	text = text[:min(len(text), maxFormula)]
	if m := environment.FindSubmatch(text); m != nil {
		n = formulaEnd(text, len(m[0]), `\end{`+string(m[1])+`}`)
		return formula{string(text[:n]), true}, n
	}
	if m := reference.Find(text); m != nil {
		return formula{string(m), false}, len(m)
	}
	for _, d := range delimiters {
		if !bytes.HasPrefix(text, []byte(d.begin)) || !inHTML && len(d.begin) == 2 && d.begin[0] == '\\' {
			continue
		}
		end := formulaEnd(text, len(d.begin), d.end)
		if end == 0 {
			return formula{}, 0
		}
		tex := string(text[len(d.begin) : end-len(d.end)])
		if strings.TrimSpace(tex) == "" || d.begin == "$" && isPrice(tex, text[end:]) {
			return formula{}, 0
		}
		return formula{tex, d.display}, end
	}
	return formula{}, 0
}

// isPrice says whether what lies between two dollars is an amount: "$5 to $10", "$5 and $x".
func isPrice(tex string, after []byte) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return len(after) > 0 && digit(after[0]) || digit(tex[0]) && strings.HasSuffix(tex, " ")
}

// formulaEnd returns where a formula's end mark ends; 0 if it has none before the next empty line. One within braces counts
// if no other follows.
func formulaEnd(text []byte, from int, mark string) int {
	depth, last, blank := 0, 0, false
	for i := from; i < len(text); i++ {
		c := text[i]
		if c == '\n' && blank {
			break
		}
		blank = c == '\n' || blank && (c == ' ' || c == '\t' || c == '\r')
		if bytes.HasPrefix(text[i:], []byte(mark)) {
			if last = i + len(mark); depth == 0 {
				break
			}
		}
		switch c {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth = max(0, depth-1)
		}
	}
	return last
}

// formulasKey and codeKey are what the parser remembers of a text: its formulas, and the element of code that is open.
var formulasKey, codeKey = parser.NewContextKey(), parser.NewContextKey()

// readyNode is a part of Markdown that is HTML already, such as a formula's place.
type readyNode struct {
	ast.BaseInline
	html string
}

var readyKind = ast.NewNodeKind("Ready")

func (*readyNode) Kind() ast.NodeKind           { return readyKind }
func (n *readyNode) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// formulaParser finds formulas where Markdown looks for emphasis and links, so never in code or addresses.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if open, _ := pc.Get(codeKey).(string); open != "" {
		return nil
	}
	_, at := block.Position()
	found, n := formulaAt(block.Value(text.NewSegment(at.Start, at.Start+maxFormula)), false)
	if n == 0 {
		return nil
	}
	block.Advance(n)
	node := &readyNode{html: pc.Get(formulasKey).(*formulas).place(found)}
	node.AppendChild(node, ast.NewString([]byte(found.tex))) // what a picture's alternative text shows
	return node
}

// codeTags are those between which a dollar is a dollar.
var codeTags = words(`code kbd pre samp script style textarea tt`)

// inCode returns which of them is open after a token, open being the one before; "" for none.
func inCode(open string, token htmltoken.Token) string {
	switch {
	case token.Type == htmltoken.StartTagToken && open == "" && codeTags[token.Data]:
		return token.Data
	case token.Type == htmltoken.EndTagToken && token.Data == open:
		return ""
	}
	return open
}

// openFormula says whether the paragraph before a line leaves a formula open that a later line closes: this one is no list,
// heading or quotation then.
func openFormula(reader text.Reader, pc parser.Context) bool {
	paragraph := pc.LastOpenedBlock().Node
	if paragraph == nil || !ast.IsParagraph(paragraph) || paragraph.Lines().Len() == 0 {
		return false
	}
	_, at := reader.Position()
	source := reader.Source()
	i := max(paragraph.Lines().At(0).Start, at.Start-maxFormula)
	for i < at.Start {
		next := bytes.IndexAny(source[i:at.Start], "$\\`")
		if next < 0 {
			return false
		}
		i += next
		if _, n := formulaAt(source[i:], false); n > 0 {
			i += n
			continue
		}
		i += skipped(source[i:at.Start])
	}
	return i > at.Start
}

// skipped is the length of what begins a text and holds no formula: a code span, or an escaped character.
func skipped(text []byte) int {
	switch text[0] {
	case '\\':
		return 2
	case '$':
		return 1
	}
	run := len(text) - len(bytes.TrimLeft(text, "`"))
	if end := bytes.Index(text[run:], text[:run]); end >= 0 {
		return run + end + run
	}
	return run
}

// readyRenderer writes what is ready, and blocks of HTML with the places of their formulas.
type readyRenderer struct{}

func (readyRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	register := func(kind ast.NodeKind, shown func(ast.Node, []byte) string) {
		r.Register(kind, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				w.WriteString(shown(n, src))
			}
			return ast.WalkSkipChildren, nil
		})
	}
	register(readyKind, func(n ast.Node, _ []byte) string { return n.(*readyNode).html })
	register(ast.KindHTMLBlock, func(n ast.Node, src []byte) string {
		block := n.(*ast.HTMLBlock)
		raw := block.Lines().Value(src)
		if block.HasClosure() {
			raw = append(raw, block.ClosureLine.Value(src)...)
		}
		return n.OwnerDocument().Meta()["formulas"].(*formulas).placeInHTML(string(raw))
	})
}

// placeInHTML finds the formulas in the text of HTML, but not in its code.
func (f *formulas) placeInHTML(source string) string {
	if !strings.ContainsAny(source, `$\`) {
		return source
	}
	var out strings.Builder
	z := htmltoken.NewTokenizer(strings.NewReader(source))
	for code := ""; ; {
		kind := z.Next()
		raw := string(z.Raw())
		if kind == htmltoken.TextToken && code == "" {
			raw = f.placeInText(raw)
		}
		out.WriteString(raw)
		if kind == htmltoken.ErrorToken {
			return out.String()
		}
		code = inCode(code, z.Token())
	}
}

// placeInText finds the formulas in a piece of text in HTML.
func (f *formulas) placeInText(raw string) string {
	var out strings.Builder
	for raw != "" {
		next := strings.IndexAny(raw, `$\`)
		if next < 0 {
			break
		}
		out.WriteString(raw[:next])
		raw = raw[next:]
		found, n := formulaAt([]byte(raw[:min(len(raw), maxFormula)]), true)
		switch {
		case n > 0:
			found.tex = html.UnescapeString(found.tex)
			out.WriteString(f.place(found))
		case strings.HasPrefix(raw, `\$`):
			n = 2
			out.WriteString("$")
		default:
			n = 1
			out.WriteString(raw[:1])
		}
		raw = raw[n:]
	}
	return out.String() + raw
}
