package report

import (
	"go/token"
	"html/template"
	"regexp"
	"strings"
)

// goTokens finds, in this order, the lines of a cell that the kernel reads itself, such as %% and
// !ls, comments, strings, numbers, and words. A line within a string or a comment is none of its
// own.
var goTokens = regexp.MustCompile(
	"(?m:^([%!].*))|(//.*|(?s:/\\*.*?(?:\\*/|\\z)))|(\"(?:[^\"\\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\\n]|\\\\.)*'?|`[^`]*`?)|" +
		`(\b(?:0[xX][\da-fA-F_.]+(?:[pP][+-]?\d+)?|\d[\d_.]*(?:[eE][+-]?\d+)?)\w*)|(\b[\pL_]\w*)`)

// foreign begins a cell that is no Go: %%script and the like.
var foreign = regexp.MustCompile(`^%%[a-z]`)

// goElements mark these in a page, which has many, with few bytes, and mean nothing to those who
// hear or copy it.
var goElements = []string{"i class=m", "i class=c", "u", "i", "b"}

// escaped writes a text between tags, where quotes stay as they are.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// longestCode is the length up to which code is coloured, which takes a hundred times its memory.
const longestCode = 1 << 20

// coloured is the source of a cell. Keywords, strings, numbers and comments are marked if it is Go.
func coloured(source, language string) template.HTML {
	source = strings.TrimRight(strings.ReplaceAll(source, "\r\n", "\n"), " \t\n")
	if language != "" && language != "go" || foreign.MatchString(source) || len(source) > longestCode {
		return template.HTML(escaped(source))
	}
	var out strings.Builder
	done := 0
	for _, m := range goTokens.FindAllStringSubmatchIndex(source, -1) {
		word := source[m[0]:m[1]]
		for i, element := range goElements {
			if m[2*i+2] < 0 || element == "b" && !token.IsKeyword(word) && word != "nil" && word != "true" && word != "false" {
				continue
			}
			out.WriteString(escaped(source[done:m[0]]) + "<" + element + ">" + escaped(word) + "</" + element[:1] + ">")
			done = m[1]
		}
	}
	return template.HTML(out.String() + escaped(source[done:]))
}
