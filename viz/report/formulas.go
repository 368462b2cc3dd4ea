package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// From where it is found to where the text is harmless HTML, a formula stands between two noncharacters, as it was typed.
// A text may have these characters too: what stands between them is tried as a formula, which is as harmless.
const markOpen, markClose = "\uFDD0", "\uFDD1"

var (
	noMarks = strings.NewReplacer(markOpen, "", markClose, "")
	// marked finds a formula with the punctuation mark that follows it, if one does.
	marked       = regexp.MustCompile(markOpen + `([^<` + markClose + `]*)` + markClose + `([,.;:!?)]?)`)
	formulaBegin = regexp.MustCompile(`^(?:\$\$?|\\{1,2}[\[(]|\\begin\{([A-Za-z]+\*?)\}|\\(?:eq)?ref\{[^{}\n]*\})`)
	formulaEnds  = map[string]string{"$$": "$$", "$": "$", `\\[`: `\\]`, `\\(`: `\\)`, `\[`: `\]`, `\(`: `\)`}
)

type formula struct {
	tex     string
	display bool
}

// formulaAt reads a formula that begins a text, by Jupyter's rules; n is its length, 0 where there is none. In Markdown a
// single backslash begins no brackets of a formula.
func formulaAt(text string, inHTML bool) (found formula, n int) {
	text = text[:min(len(text), maxFormula)]
	m := formulaBegin.FindStringSubmatch(text)
	if m == nil || !inHTML && len(m[0]) == 2 && m[0] != "$$" {
		return formula{}, 0
	}
	begin, environment := m[0], m[1]
	end, delimited := formulaEnds[begin]
	switch {
	case environment != "":
		n = formulaEnd(text, len(begin), `\end{`+environment+"}")
		return formula{text[:n], true}, n
	case !delimited: // a reference
		return formula{begin, false}, len(begin)
	}
	if n = formulaEnd(text, len(begin), end); n == 0 {
		return formula{}, 0
	}
	tex := text[len(begin) : n-len(end)]
	if strings.TrimSpace(tex) == "" || begin == "$" && isPrice(tex, text[n:]) {
		return formula{}, 0
	}
	return formula{tex, end == "$$" || strings.HasSuffix(end, "]")}, n
}

// isPrice says whether what lies between two dollars is an amount: "$5 to $10", "$5 and $x".
func isPrice(tex, after string) bool {
	const digits = "0123456789"
	return after != "" && strings.Contains(digits, after[:1]) || strings.Contains(digits, tex[:1]) && strings.HasSuffix(tex, " ")
}

// formulaEnd returns where a formula's end mark ends, outside of braces; 0 if it has none before the next empty line.
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

// toMark is the length of a formula that begins a text, or of a dollar that begins none; 0 where there is neither.
func toMark(text string, inHTML bool) int {
	_, n := formulaAt(text, inHTML)
	switch {
	case n > 0:
		return n
	case strings.HasPrefix(text, "$"):
		return 1
	case strings.HasPrefix(text, `\$`):
		return 2
	}
	return 0
}

// markFormulas marks the formulas in a text of HTML that aren't marked yet.
func markFormulas(text string) string {
	var out strings.Builder
	for {
		next := strings.IndexAny(text, `$\`+markOpen)
		if next < 0 {
			return out.String() + text
		}
		out.WriteString(text[:next])
		text = text[next:]
		n := toMark(text, true)
		switch {
		case n > 0:
			out.WriteString(markOpen + text[:n] + markClose)
		case strings.HasPrefix(text, markOpen):
			n = max(1, strings.Index(text[:min(len(text), 2*maxFormula)], markClose))
			out.WriteString(text[:n])
		default:
			n = 1
			out.WriteString(text[:n])
		}
		text = text[n:]
	}
}

// putFormulas puts formulas into harmless HTML where they are marked.
func (r *notebookRenderer) putFormulas(clean string) string {
	return marked.ReplaceAllStringFunc(clean, func(s string) string {
		m := marked.FindStringSubmatch(s)
		shown, mark := r.formula(html.UnescapeString(m[1])), m[2]
		if mark != "" && shown != "$" {
			shown = `<span class="keep">` + shown + mark + "</span>" // no line begins with the mark
			mark = ""
		}
		return shown + mark
	})
}

// formula renders a formula; one that KaTeX doesn't know is shown as it was typed.
func (r *notebookRenderer) formula(source string) string {
	if source == "$" || source == `\$` {
		return "$"
	}
	f, n := formulaAt(source, true)
	if n < len(source) {
		f = formula{source, true}
	}
	shown, err := r.typesetter.typeset(f)
	if err != nil {
		r.leave(`formula "%s": %v`, short(f.tex), err)
		shown = `<code class="tex" title="` + html.EscapeString(err.Error()) + `">` + html.EscapeString(f.tex) + `</code>`
	}
	if f.display {
		return `<span class="eq">` + shown + "</span>"
	}
	return shown
}

// formulaParser marks formulas where Markdown looks for emphasis and links, so never in code or addresses, and the dollars
// that begin none.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	_, at := block.Position()
	source := string(block.Value(text.NewSegment(at.Start, at.Start+maxFormula)))
	n := toMark(source, false)
	if n == 0 {
		return nil
	}
	block.Advance(n)
	found := ast.NewString([]byte(markOpen + source[:n] + markClose))
	found.SetRaw(true)
	return found
}

// outsideFormulas opens no block within a formula: a line of it that begins with a minus is no list. As an option it does so
// for the parsers of the options before it.
type outsideFormulas struct{ parser.BlockParser }

func (outsideFormulas) SetParserOption(c *parser.Config) {
	for i, p := range c.BlockParsers {
		if p.Value != parser.NewParagraphParser() {
			c.BlockParsers[i].Value = outsideFormulas{p.Value.(parser.BlockParser)}
		}
	}
}

func (b outsideFormulas) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if openFormula(reader, pc) {
		return nil, parser.NoChildren
	}
	return b.BlockParser.Open(parent, reader, pc)
}

// openFormula says whether the paragraph before a line leaves a formula open that this line or a later one closes.
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
