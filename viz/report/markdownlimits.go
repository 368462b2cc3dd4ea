package report

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	htmltoken "golang.org/x/net/html"
)

// The parser of Markdown takes time that grows with the square of what one paragraph holds: a mark
// that closes nothing looks through all marks before it, a bracket through all text after it. Deep
// nesting costs a step a level on every line, a definition one for every other, a table's short rows
// are filled up, and an address that is defined once may be used everywhere. The bounds below make the
// whole linear. What exceeds them stays in the page as it was typed, and such links lead nowhere; they
// are far beyond what people write.
const (
	maxMarks   = 2000    // in one paragraph, heading or cell of a table: parsers of emphasis, links and the like that are asked
	maxNesting = 50      // of lists, quotations and footnotes in each other
	maxLines   = 20_000  // of a text
	maxCells   = 50_000  // of a text, if each of its lines were a row of its widest table; ten times its characters if those are more
	maxDefined = 100_000 // characters of defined addresses where they are used; as many as the text has if those are more
)

// outOfBounds says whether a text has more lines, or could have more cells, than it should.
func outOfBounds(source string) bool {
	lines, widest := 0, 0
	for line := range strings.Lines(source) {
		lines, widest = lines+1, max(widest, 1+strings.Count(line, "|"))
	}
	return lines > maxLines || lines*widest > max(maxCells, 10*len(source))
}

// bounded is an option that puts the bounds around the parsers of the options before it.
type bounded struct{}

func (bounded) SetParserOption(c *parser.Config) {
	for i, p := range c.InlineParsers {
		c.InlineParsers[i].Value = boundedInline{p.Value.(parser.InlineParser)}
	}
	for i, p := range c.BlockParsers {
		if p.Value != parser.NewParagraphParser() {
			c.BlockParsers[i].Value = boundedBlock{p.Value.(parser.BlockParser)}
		}
	}
}

var marksKey, definedKey = parser.NewContextKey(), parser.NewContextKey()

// boundedInline shares its count with the other parsers of the text.
type boundedInline struct{ parser.InlineParser }

func (b boundedInline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if util.IsPunct(block.Peek()) { // what begins a word may be an address, which costs nothing
		marks, _ := pc.Get(marksKey).(int)
		if marks == maxMarks {
			return nil
		}
		pc.Set(marksKey, marks+1)
	}
	n := b.InlineParser.Parse(parent, block, pc)
	switch n := n.(type) {
	case *ast.Link:
		boundDefined(&n.Destination, &n.Title, n.Reference, len(block.Source()), pc)
	case *ast.Image:
		boundDefined(&n.Destination, &n.Title, n.Reference, len(block.Source()), pc)
	case *ast.RawHTML:
		z := htmltoken.NewTokenizer(bytes.NewReader(n.Segments.Value(block.Source())))
		z.Next()
		open, _ := pc.Get(codeKey).(string)
		pc.Set(codeKey, inCode(open, z.Token()))
	}
	return n
}

// boundDefined drops the address of a link that takes it from a definition once those are too long in all.
func boundDefined(address, title *[]byte, from *ast.ReferenceLink, length int, pc parser.Context) {
	if from == nil {
		return
	}
	used, _ := pc.Get(definedKey).(int)
	used += len(*address) + len(*title)
	pc.Set(definedKey, used)
	if used > max(maxDefined, length) {
		*address, *title = []byte("#"), nil
	}
}

// CloseBlock is called at the end of a block.
func (b boundedInline) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	pc.Set(marksKey, nil)
	pc.Set(codeKey, nil)
	if c, ok := b.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// boundedBlock opens no block that would lie too deep, or within a formula.
type boundedBlock struct{ parser.BlockParser }

func (b boundedBlock) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > maxNesting {
			return nil, parser.NoChildren
		}
	}
	if openFormula(reader, pc) {
		return nil, parser.NoChildren
	}
	return b.BlockParser.Open(parent, reader, pc)
}
