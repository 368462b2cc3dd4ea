package report

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	htmltoken "golang.org/x/net/html"
)

// The parser of Markdown takes time that grows with the square of what one paragraph holds: a mark
// that closes nothing looks through all marks before it, a bracket through all text after it. Deep
// nesting costs a step a level on every line, a table's short rows are filled up, and an address that
// is defined once may be used everywhere. The bounds below make the whole linear. What exceeds them
// stays in the page as it was typed, and such links lead nowhere; they are far beyond what people
// write.
const (
	maxMarks   = 1000    // of emphasis, links and the like in one paragraph, heading or cell of a table
	maxNesting = 50      // of lists, quotations and footnotes in each other
	maxNotes   = 1000    // footnotes of a text
	maxRefs    = 1000    // addresses defined in one paragraph
	maxCells   = 50_000  // of a table; as many as it has characters if those are more
	maxDefined = 100_000 // characters of defined addresses where they are used; as many as the text has if those are more
)

// bounded is an option that puts the bounds around the parsers of the options before it.
type bounded struct{}

func (bounded) SetParserOption(c *parser.Config) {
	for i, p := range c.InlineParsers {
		c.InlineParsers[i].Value = boundedInline{p.Value.(parser.InlineParser)}
	}
	footnotes := extension.NewFootnoteBlockParser()
	for i, p := range c.BlockParsers {
		block := boundedBlock{p.Value.(parser.BlockParser)}
		switch p.Value {
		case parser.NewParagraphParser():
		case footnotes:
			c.BlockParsers[i].Value = boundedNotes{block}
		default:
			c.BlockParsers[i].Value = block
		}
	}
	tables := extension.NewTableParagraphTransformer()
	for i, p := range c.ParagraphTransformers {
		switch p.Value {
		case tables:
			c.ParagraphTransformers[i].Value = boundedTables{tables}
		case parser.LinkReferenceParagraphTransformer:
			c.ParagraphTransformers[i].Value = boundedDefinitions{parser.LinkReferenceParagraphTransformer}
		}
	}
}

var marksKey, notesKey, definedKey = parser.NewContextKey(), parser.NewContextKey(), parser.NewContextKey()

// marks counts the places in a block at which some parser was asked.
type marks struct{ n, last int }

// boundedInline shares its count with the other parsers of the text.
type boundedInline struct{ parser.InlineParser }

func (b boundedInline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if util.IsPunct(block.Peek()) { // what begins a word may be an address, which costs nothing
		m := pc.ComputeIfAbsent(marksKey, func() any { return &marks{} }).(*marks)
		if _, at := block.Position(); m.n == 0 || at.Start != m.last {
			m.n, m.last = m.n+1, at.Start
		}
		if m.n > maxMarks {
			return nil
		}
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

// boundedNotes opens no more than so many footnotes: each reference looks through all of them.
type boundedNotes struct{ boundedBlock }

func (b boundedNotes) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	notes, _ := pc.Get(notesKey).(int)
	if notes >= maxNotes {
		return nil, parser.NoChildren
	}
	node, state := b.boundedBlock.Open(parent, reader, pc)
	if node != nil {
		pc.Set(notesKey, notes+1)
	}
	return node, state
}

// boundedTables leaves a paragraph alone that would be a table of far more cells than it writes out.
type boundedTables struct{ parser.ParagraphTransformer }

func (b boundedTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns, length := 0, 0
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		length += line.Len()
		columns = max(columns, 1+bytes.Count(line.Value(reader.Source()), []byte("|")))
	}
	if columns*node.Lines().Len() <= max(maxCells, length) {
		b.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// boundedDefinitions leaves a paragraph alone that defines more addresses than so many.
type boundedDefinitions struct{ parser.ParagraphTransformer }

func (b boundedDefinitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	definitions := 0
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		if bytes.Contains(line.Value(reader.Source()), []byte("]:")) {
			definitions++
		}
	}
	if definitions <= maxRefs {
		b.ParagraphTransformer.Transform(node, reader, pc)
	}
}
