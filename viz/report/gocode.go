package report

import (
	"go/scanner"
	"go/token"
	"html"
	"html/template"
	"regexp"
	"strings"
)

var (
	// special are the lines of a cell that the kernel reads itself, such as %% and !ls.
	special = regexp.MustCompile(`(?m)^[%!].*$`)
	// foreign begins a cell that is no Go: %%script and the like.
	foreign = regexp.MustCompile(`^%%[a-z]`)
)

// colourGo marks keywords, strings, numbers and comments of a cell, with Go's own scanner.
func colourGo(source string) template.HTML {
	source = strings.TrimRight(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	if foreign.MatchString(source) {
		return template.HTML(html.EscapeString(source))
	}
	c := colouring{source: source}
	for _, at := range special.FindAllStringIndex(source, -1) {
		c.special = append(c.special, span{at[0], at[1], "m"})
	}
	src := special.ReplaceAllStringFunc(source, func(line string) string { return strings.Repeat(" ", len(line)) })
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			c.upTo(len(source))
			return template.HTML(c.out.String())
		}
		if class := tokenClass(tok, text); class != "" {
			at := file.Offset(pos)
			c.upTo(at)
			c.mark(span{at, at + len(text), class})
		}
	}
}

type span struct {
	begin, end int
	class      string
}

// colouring writes a source from its beginning.
type colouring struct {
	source  string
	special []span // to come
	at      int
	out     strings.Builder
}

func (c *colouring) upTo(end int) {
	for len(c.special) > 0 && c.special[0].begin < end {
		next := c.special[0]
		c.special = c.special[1:]
		c.plain(next.begin)
		c.mark(next)
	}
	c.plain(end)
}

func (c *colouring) plain(end int) {
	c.out.WriteString(html.EscapeString(c.source[c.at:end]))
	c.at = end
}

func (c *colouring) mark(s span) {
	c.out.WriteString(`<span class="` + s.class + `">` + html.EscapeString(c.source[s.begin:s.end]) + "</span>")
	c.at = s.end
	for len(c.special) > 0 && c.special[0].begin < c.at { // a line of a string or a comment
		c.special = c.special[1:]
	}
}

func tokenClass(tok token.Token, text string) string {
	switch {
	case tok == token.COMMENT:
		return "c"
	case tok == token.STRING || tok == token.CHAR:
		return "s"
	case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
		return "n"
	case tok.IsKeyword() || tok == token.IDENT && (text == "nil" || text == "true" || text == "false"):
		return "k"
	}
	return ""
}
