// Package tex turns formulas in TeX's notation, as they stand in Markdown, into MathML Core, which
// browsers draw by themselves: a page needs neither a script nor a network.
//
// It knows what papers on optimisation use: scripts, fractions, roots, accents, sums and other large
// operators, functions, fences that grow, alphabets, text, cases, matrices and aligned equations. It
// has no macros. What it does not know is an error, never a gap in the formula.
package tex

import (
	"fmt"
	"html"
	"strings"
)

// MathML returns source, without its dollar signs, as a math element: one that stands on a line of
// its own if display is set. Errors name the command or the place.
func MathML(source string, display bool) (string, error) {
	p := &parser{src: source, display: display}
	body, err := p.row()
	if err == nil && p.next() != "" {
		err = fmt.Errorf("%q closes nothing", short(p.next()))
	}
	if err != nil {
		return "", fmt.Errorf("formula %q: %w", short(source), err)
	}
	block := ""
	if display {
		block = ` display="block"`
	}
	alt := html.EscapeString(strings.Join(strings.Fields(source), " "))
	return fmt.Sprintf(`<math%s alttext="%s"><mrow>%s</mrow></math>`, block, alt, body), nil
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
