package report

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/viz/report/internal/tex"
)

// Markdown would read the underscores and backslashes of a formula. So formulas leave the text
// before it is rendered, and come back as MathML into the places that they left: numbers between
// two characters of a private plane.
const placeOpen, placeClose = "\uE000", "\uE001"

var place = regexp.MustCompile(placeOpen + `(\d+)` + placeClose)

// takeMaths takes the formulas out of Markdown: $…$, $$…$$ and \begin{align}…, but not in code.
func takeMaths(text string) (rest string, formulas []string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := codeEnd(text, i)
		if end > i {
			b.WriteString(text[i:end])
			i = end
			continue
		}
		if text[i] == '\\' && i+1 < len(text) && !strings.HasPrefix(text[i:], `\begin{`) {
			b.WriteString(text[i : i+2])
			i += 2
			continue
		}
		if source, display, n := formulaAt(text[i:]); n > 0 {
			xml, mistake := tex.MathML(source, display)
			err = errors.Join(err, mistake)
			if display {
				xml = `<span class="eq">` + xml + "</span>"
			}
			b.WriteString(placeOpen + strconv.Itoa(len(formulas)) + placeClose)
			formulas = append(formulas, xml)
			i += n
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String(), formulas, err
}

// putMaths puts the formulas back into what was rendered.
func putMaths(html string, formulas []string) string {
	return place.ReplaceAllStringFunc(html, func(s string) string {
		i, err := strconv.Atoi(place.FindStringSubmatch(s)[1])
		if err != nil || i >= len(formulas) {
			return s
		}
		return formulas[i]
	})
}

// withoutMaths is for texts that hold no elements.
func withoutMaths(text string) string { return strings.TrimSpace(place.ReplaceAllString(text, "")) }

// codeEnd returns the end of the code that begins at i, a fenced block or a span; i if none does.
func codeEnd(text string, i int) int {
	mark := text[i]
	if mark != '`' && mark != '~' {
		return i
	}
	run := i
	for run < len(text) && text[run] == mark {
		run++
	}
	line := text[strings.LastIndexByte(text[:i], '\n')+1 : i]
	if run-i >= 3 && strings.TrimSpace(line) == "" { // a fence: up to one as long, at a line's beginning
		for at := run; ; {
			next := strings.IndexByte(text[at:], '\n')
			if next < 0 {
				return len(text)
			}
			at += next + 1
			if strings.HasPrefix(strings.TrimLeft(text[at:], " "), text[i:run]) {
				return at + strings.Index(text[at:], text[i:run]) + run - i
			}
		}
	}
	if mark == '~' {
		return run
	}
	for at := run; at < len(text); { // a span: up to a run of the same length
		open := strings.IndexByte(text[at:], '`')
		if open < 0 {
			break
		}
		at += open
		end := at
		for end < len(text) && text[end] == '`' {
			end++
		}
		if end-at == run-i {
			return end
		}
		at = end
	}
	return run
}

var environment = regexp.MustCompile(`^\\begin\{((?:align|equation|gather|aligned|split|cases|[pb]?matrix)\*?)\}`)

// formulaAt reads a formula at the beginning of text; n is its length, 0 where there is none. As in
// Jupyter the dollars of $…$ stand close to the formula, and no digit follows: prices are none.
func formulaAt(text string) (source string, display bool, n int) {
	switch {
	case strings.HasPrefix(text, "$$"):
		if end := strings.Index(text[2:], "$$"); end > 0 {
			return text[2 : 2+end], true, end + 4
		}
	case text[0] == '$':
		end := 1
		for ; end < len(text) && text[end] != '$'; end++ {
			switch {
			case text[end] == '\\':
				end++
			case strings.HasPrefix(text[end:], "\n\n"):
				return "", false, 0
			}
		}
		if end >= len(text) || end == 1 || strings.ContainsRune(" \n\t", rune(text[1])) || strings.ContainsRune(" \n\t", rune(text[end-1])) ||
			end+1 < len(text) && text[end+1] >= '0' && text[end+1] <= '9' {
			return "", false, 0
		}
		return text[1:end], false, end + 1
	default:
		m := environment.FindStringSubmatch(text)
		if m == nil {
			return "", false, 0
		}
		closing := `\end{` + m[1] + "}"
		if end := strings.Index(text, closing); end > 0 {
			return text[:end+len(closing)], true, end + len(closing)
		}
	}
	return "", false, 0
}
