package report

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// mark encloses the number of a formula, which takes the formula's place while the HTML around it
// is sanitised. It is random, so that no notebook can contain it.
var mark = rand.Text()

var (
	// marked finds a formula with the punctuation mark that follows it, if one does.
	marked       = regexp.MustCompile(mark + `(\d+)` + mark + `([,.;:!?)]?)`)
	formulaBegin = regexp.MustCompile(`^(?:\$\$?|\\{1,2}[\[(]|\\begin\{([A-Za-z]+\*?)\}|\\(?:eq)?ref\{[^{}\n]*\})`)
	closing      = strings.NewReplacer("[", "]", "(", ")")
)

type formula struct {
	tex     string
	display bool
}

// formulaAt reads a formula that begins a text, by Jupyter's rules; n is its length, 0 where there
// is none.
func formulaAt(text string) (found formula, n int) {
	text = text[:min(len(text), maxFormula)]
	m := formulaBegin.FindStringSubmatch(text)
	if m == nil {
		return formula{}, 0
	}
	begin := m[0]
	switch {
	case m[1] != "":
		n = formulaEnd(text, len(begin), `\end{`+m[1]+"}")
		return formula{text[:n], true}, n
	case strings.HasSuffix(begin, "}"): // a reference
		return formula{begin, false}, len(begin)
	}
	end := closing.Replace(begin)
	n = formulaEnd(text, len(begin), end)
	tex := text[len(begin):max(len(begin), n-len(end))]
	if strings.TrimSpace(tex) == "" || begin == "$" && isPrice(tex, text[n:]) {
		return formula{}, 0
	}
	return formula{tex, end == "$$" || strings.HasSuffix(end, "]")}, n
}

// isPrice says whether what lies between two dollars is an amount: "$5 to $10", "$5 and $x".
func isPrice(tex, after string) bool {
	const digits = "0123456789"
	return after != "" && strings.Contains(digits, after[:1]) ||
		strings.Contains(digits, tex[:1]) && strings.HasSuffix(tex, " ")
}

// formulaEnd returns where a formula's end mark ends, outside of braces; 0 if it has none before
// the next empty line.
func formulaEnd(text string, from int, mark string) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case depth == 0 && strings.HasPrefix(text[i:], mark):
			return i + len(mark)
		case c == '\n' && strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\r"), "\n"):
			return 0
		case c == '\\':
			i++
		case c == '{':
			depth++
		case c == '}':
			depth = max(0, depth-1)
		}
	}
	return 0
}

// markFormulas replaces the formulas in a text of HTML by their marked numbers.
func (r *notebookRenderer) markFormulas(text string) string {
	var out strings.Builder
	for {
		next := strings.IndexAny(text, `$\`)
		if next < 0 || r.left.scanned < 0 {
			return out.String() + text
		}
		out.WriteString(text[:next])
		text = text[next:]
		f, n := formulaAt(text)
		switch {
		case n > 0:
			fmt.Fprint(&out, mark, len(r.formulas), mark)
			r.formulas = append(r.formulas, f)
		case strings.HasPrefix(text, `\$`):
			out.WriteString("$")
			n = 2
		default:
			r.left.scanned -= min(len(text), maxFormula)
			out.WriteString(text[:1])
			n = 1
		}
		text = text[n:]
	}
}

// putFormulas puts formulas into sanitised HTML in the place of their marked numbers.
func (r *notebookRenderer) putFormulas(clean string) string {
	return marked.ReplaceAllStringFunc(clean, func(s string) string {
		m := marked.FindStringSubmatch(s)
		i, _ := strconv.Atoi(m[1])
		shown := r.formula(r.formulas[i])
		if m[2] != "" { // the punctuation mark must not begin a line
			shown = `<span class="keep">` + shown + m[2] + "</span>"
		}
		return shown
	})
}

// formula renders a formula; one that KaTeX doesn't know is shown as it was typed.
func (r *notebookRenderer) formula(f formula) string {
	shown, err := r.typesetter.typeset(f)
	if err == nil && !spend(&r.left.shown, len(shown)) {
		err = errors.New("the page would be too large")
	}
	if err != nil {
		r.leave(`formula "%s": %v`, short(f.tex), err)
		shown = `<code class="tex" title="` + html.EscapeString(err.Error()) + `">` + html.EscapeString(f.tex) + `</code>`
	}
	if f.display {
		return `<span class="eq">` + shown + "</span>"
	}
	return shown
}

// formulaParser keeps Markdown from changing formulas, and dollars behind a backslash: they reach
// the HTML as they were typed. It is asked where Markdown looks for emphasis and links, so never in
// code or addresses.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	_, at := block.Position()
	source := string(block.Value(text.NewSegment(at.Start, at.Start+maxFormula)))
	_, n := formulaAt(source)
	switch {
	case strings.HasPrefix(source, `\$`):
		n = 2
	case n == 0 || strings.HasPrefix(source, `\(`) || strings.HasPrefix(source, `\[`): // in Markdown these are brackets
		return nil
	}
	block.Advance(n)
	found := ast.NewString([]byte(source[:n]))
	found.SetRaw(true)
	return found
}

// outsideFormulas wraps a block parser so that it opens no block within a formula: a line of a
// formula that begins with a minus is not a list. As an option it wraps the parsers of the options
// before it.
type outsideFormulas struct{ parser.BlockParser }

func (outsideFormulas) SetParserOption(c *parser.Config) {
	for i, p := range c.BlockParsers {
		if p.Value != parser.NewParagraphParser() {
			c.BlockParsers[i].Value = outsideFormulas{p.Value.(parser.BlockParser)}
		}
	}
}

// askedAt keeps where [openFormula] was asked last, as each of several parsers does, and askedOpen
// the answer.
var askedAt, askedOpen = parser.NewContextKey(), parser.NewContextKey()

func (b outsideFormulas) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	type place struct {
		start int
		after ast.Node
	}
	_, at := reader.Position()
	if here := (place{at.Start, pc.LastOpenedBlock().Node}); pc.Get(askedAt) != here {
		pc.Set(askedAt, here)
		pc.Set(askedOpen, openFormula(reader, pc))
	}
	if pc.Get(askedOpen).(bool) {
		return nil, parser.NoChildren
	}
	return b.BlockParser.Open(parent, reader, pc)
}

// openFormula says whether the paragraph before a line leaves a formula open that this line or a
// later one closes.
func openFormula(reader text.Reader, pc parser.Context) bool {
	paragraph := pc.LastOpenedBlock().Node
	if paragraph == nil || !ast.IsParagraph(paragraph) || paragraph.Lines().Len() == 0 {
		return false
	}
	_, at := reader.Position()
	source := reader.Source()
	before := source[max(paragraph.Lines().At(0).Start, at.Start-maxFormula):at.Start]
	after, _, _ := bytes.Cut(source[at.Start:min(len(source), at.Start+maxFormula)], []byte("\n\n"))
	count := func(mark string) int { return bytes.Count(before, []byte(mark)) }
	return count("$$")%2 > 0 && bytes.Contains(after, []byte("$$")) ||
		count(`\begin{`) > count(`\end{`) && bytes.Contains(after, []byte(`\end{`)) ||
		count(`\\[`) > count(`\\]`) && bytes.Contains(after, []byte(`\\]`))
}
