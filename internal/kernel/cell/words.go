package cell

import (
	"go/scanner"
	"go/token"
	"strings"
)

// word is a token of a cell.
type word struct {
	tok token.Token
	at  int
}

// isOperand says whether a value or a type ends with the word.
func (w word) isOperand() bool {
	switch w.tok {
	case token.RPAREN, token.RBRACK, token.RBRACE:
		return true
	}
	return w.tok.IsLiteral()
}

// tokensTo lists the tokens before an offset, from the statement on that the offset is in. The
// offset may lie in a comment or, then the last one, in a string.
func (s Source) tokensTo(offset int) (list []word, in token.Token) {
	src := s.Go[:min(offset, len(s.Go))]
	file := token.NewFileSet().AddFile("", -1, len(src))
	var tokens scanner.Scanner
	open, depth := false, 0
	tokens.Init(file, []byte(src), func(_ token.Position, text string) {
		open = open || strings.HasSuffix(text, "not terminated")
	}, scanner.ScanComments)
	for {
		pos, tok, text := tokens.Scan()
		at := file.Offset(pos)
		if tok == token.EOF || at >= len(src) {
			return list, in
		}
		in = token.ILLEGAL
		switch {
		case tok == token.COMMENT:
			if open || text[1] == '/' && !strings.Contains(src[at:], "\n") {
				in = token.COMMENT
			}
		case tok == token.SEMICOLON && depth == 0:
			list = nil
		default:
			if open && (tok == token.STRING || tok == token.CHAR) {
				in = token.STRING
			}
			depth = max(0, depth+nesting[tok])
			list = append(list, word{tok, at})
		}
		open = false
	}
}
