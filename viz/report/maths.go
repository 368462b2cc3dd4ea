package report

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/parallelcl/parallelcl/viz/report/internal/tex"
)

// Markdown would read the underscores and backslashes of a formula. So formulas leave the text
// before it is rendered, and come back as MathML into the places that they left: numbers between
// two characters of a private plane.
const placeOpen, placeClose = "\uE000", "\uE001"

var place = regexp.MustCompile(placeOpen + `(\d+)` + placeClose)

// placeAndMark is a place with the punctuation mark that follows it, if one does.
var placeAndMark = regexp.MustCompile(place.String() + `([,.;:!?)]?)`)

// formula is one that left the text.
type formula struct{ source, xml string }

// takeMaths takes the formulas out of Markdown: $…$, $$…$$ and \begin{align}…, but not in code. It
// goes through the text once.
func takeMaths(text string) (rest string, formulas []formula, err error) {
	var b strings.Builder
	var failed mistakes
	m := mathsReader{text: text, blank: true, lost: map[string]bool{}}
	for i := 0; i < len(text); {
		if end := m.codeEnd(i); end > i {
			b.WriteString(text[i:end])
			i, m.blank = end, false
			continue
		}
		if text[i] == '\\' && i+1 < len(text) && !strings.HasPrefix(text[i:], `\begin{`) {
			b.WriteString(text[i : i+2])
			m.blank = text[i+1] == '\n'
			i += 2
			continue
		}
		if source, display, n := m.formulaAt(i); n > 0 {
			xml, mistake := tex.MathML(source, display)
			failed.add(mistake)
			if display {
				xml = `<span class="eq">` + xml + "</span>"
			}
			b.WriteString(placeOpen + strconv.Itoa(len(formulas)) + placeClose)
			formulas = append(formulas, formula{source, xml})
			i, m.blank = i+n, false
			continue
		}
		m.blank = text[i] == '\n' || m.blank && unicode.IsSpace(rune(text[i]))
		b.WriteByte(text[i])
		i++
	}
	return b.String(), formulas, failed.err()
}

// putMaths puts the formulas back into the text of a page, each into one place: a text may have the
// characters of places too, and would grow with each of them.
func putMaths(html string, formulas []formula) string {
	put := make([]bool, len(formulas))
	return placeAndMark.ReplaceAllStringFunc(html, func(s string) string {
		i, err := placed(s, len(formulas))
		mark := s[strings.Index(s, placeClose)+len(placeClose):]
		switch {
		case err != nil || put[i]:
			return mark
		case mark == "":
			put[i] = true
			return formulas[i].xml
		}
		put[i] = true
		return `<span class="keep">` + formulas[i].xml + mark + "</span>" // no line begins with the mark
	})
}

// sourceMaths puts the sources of formulas back where no elements can stand.
func sourceMaths(text string, formulas []formula) string {
	if !strings.Contains(text, placeOpen) {
		return text
	}
	used := 0
	return place.ReplaceAllStringFunc(text, func(s string) string {
		i, err := placed(s, len(formulas))
		if err != nil || used > len(text)+len(formulas[i].source) {
			return ""
		}
		used += len(formulas[i].source)
		return formulas[i].source
	})
}

// placed reads the number of a place.
func placed(s string, n int) (int, error) {
	i, err := strconv.Atoi(place.FindStringSubmatch(s)[1])
	if err == nil && i >= n {
		err = strconv.ErrRange
	}
	return i, err
}

// withoutMaths is for texts that hold no elements.
func withoutMaths(text string) string { return strings.TrimSpace(place.ReplaceAllString(text, "")) }

// mathsReader finds code and formulas in a text. It remembers what the rest of the text was
// searched for in vain.
type mathsReader struct {
	text  string
	blank bool            // so far the line is
	lost  map[string]bool // ends that the rest lacks
	runs  map[int]int     // the last place at which a run of so many backticks begins
}

// find returns where the next mark is, from a place on; -1 where there is none.
func (m *mathsReader) find(mark string, from int) int {
	if from > len(m.text) || m.lost[mark] {
		return -1
	}
	at := strings.Index(m.text[from:], mark)
	if at < 0 {
		m.lost[mark] = true
		return -1
	}
	return from + at
}

// codeEnd returns the end of the code that begins at i, a fenced block or a span; i if none does.
func (m *mathsReader) codeEnd(i int) int {
	mark := m.text[i]
	if mark != '`' && mark != '~' {
		return i
	}
	run := runEnd(m.text, i)
	if run-i >= 3 && m.blank {
		return m.fenceEnd(i, run)
	}
	if mark == '~' {
		return run
	}
	return m.spanEnd(i, run)
}

func runEnd(text string, i int) int {
	end := i
	for end < len(text) && text[end] == text[i] {
		end++
	}
	return end
}

// fenceEnd is where a fence is closed by one as long, at a line's beginning.
func (m *mathsReader) fenceEnd(i, run int) int {
	fence := m.text[i:run]
	for at := run; ; {
		next := strings.IndexByte(m.text[at:], '\n')
		if next < 0 {
			return len(m.text)
		}
		at += next + 1
		indent := len(m.text[at:]) - len(strings.TrimLeft(m.text[at:], " "))
		if strings.HasPrefix(m.text[at+indent:], fence) {
			return at + indent + len(fence)
		}
	}
}

// spanEnd is where the next run of as many backticks ends; the run's own end where there is none.
func (m *mathsReader) spanEnd(i, run int) int {
	if m.runs == nil {
		m.runs = map[int]int{}
		for at := i; at < len(m.text); {
			if m.text[at] != '`' {
				next := strings.IndexByte(m.text[at:], '`')
				if next < 0 {
					break
				}
				at += next
			}
			end := runEnd(m.text, at)
			m.runs[end-at] = at
			at = end
		}
	}
	if m.runs[run-i] <= i {
		return run
	}
	for at := run; ; {
		at += strings.IndexByte(m.text[at:], '`')
		end := runEnd(m.text, at)
		if end-at == run-i {
			return end
		}
		at = end
	}
}

var environment = regexp.MustCompile(`^\\begin\{((?:align|equation|gather|aligned|split|cases|[pb]?matrix)\*?)\}`)

// formulaAt reads a formula that begins at i; n is its length, 0 where there is none. As in
// Jupyter the dollars of $…$ stand close to the formula, and no digit follows: prices are none.
func (m *mathsReader) formulaAt(i int) (source string, display bool, n int) {
	text := m.text[i:]
	switch {
	case strings.HasPrefix(text, "$$"):
		if end := m.find("$$", i+2) - i - 2; end > 0 {
			return text[2 : 2+end], true, end + 4
		}
	case text[0] == '$':
		return m.inline(text)
	case text[0] == '\\':
		found := environment.FindStringSubmatch(text)
		if found == nil {
			return "", false, 0
		}
		closing := `\end{` + found[1] + "}"
		if end := m.find(closing, i) - i; end > 0 {
			return text[:end+len(closing)], true, end + len(closing)
		}
	}
	return "", false, 0
}

// inline reads $…$, within a paragraph.
func (m *mathsReader) inline(text string) (source string, display bool, n int) {
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
}
