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
	// special is a line of a cell that the kernel reads itself, such as %% and !ls.
	special = regexp.MustCompile(`^[%!].*`)
	// foreign begins a cell that is no Go: %%script and the like.
	foreign = regexp.MustCompile(`^%%[a-z]`)
)

// colourGo marks keywords, strings, numbers and comments of a cell, with Go's own scanner, and special lines.
func colourGo(source string) template.HTML {
	source = strings.TrimRight(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	if foreign.MatchString(source) {
		return template.HTML(html.EscapeString(source))
	}
	var out strings.Builder
	for src := []byte(source); len(src) > 0; {
		line := special.Find(src)
		mark(&out, "m", line)
		src = colourUpToSpecial(&out, src[len(line):])
	}
	return template.HTML(out.String())
}

// colourUpToSpecial colours Go up to the next special line, if there is one after the beginning, and returns the rest. A line
// within a string or a comment is none.
func colourUpToSpecial(out *strings.Builder, src []byte) (rest []byte) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	for done := 0; ; {
		pos, tok, text := s.Scan()
		at := file.Offset(pos)
		if tok == token.EOF || at > 0 && src[at-1] == '\n' && special.Match(src[at:]) {
			mark(out, "", src[done:at])
			return src[at:]
		}
		if class := tokenClass(tok, text); class != "" {
			mark(out, "", src[done:at])
			done = at + len(text)
			mark(out, class, src[at:done])
		}
	}
}

func mark(out *strings.Builder, class string, code []byte) {
	shown := html.EscapeString(string(code))
	if class != "" && shown != "" {
		shown = `<span class="` + class + `">` + shown + "</span>"
	}
	out.WriteString(shown)
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
