package report

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// katex has KaTeX 0.19.1 as npm has it (SHA-256
// fa140498b8cfc8302cbe5e7cb1bdbc1f952bc38b3fa258ede09e73edbf9a74bc), its licence (MIT), and what we
// add to it.
//
//go:embed katex
var katex embed.FS

// Bounds of formulas. Formulas that exceed them are shown as they were typed.
const (
	maxFormula = 10_000 // characters of a formula as it was typed
	maxTeX     = 10_000 // characters of a formula after its macros have been replaced
	leastTeX   = 20     // what the shortest formula takes of the page's bound
	maxCalls   = 2000   // depth of the engine's stack of calls: enough for some 200 levels of braces
)

// program is KaTeX with our additions, compiled once. Its value are two functions: one makes
// MathML, one tells what work it took.
var program = sync.OnceValue(func() *goja.Program {
	library, _ := katex.ReadFile("katex/katex.min.js") // which are there
	shims, _ := katex.ReadFile("katex/shims.js")
	return goja.MustCompile("katex.js", string(library)+"\n"+string(shims), true)
})

// typesetter makes MathML of the formulas of one notebook: what one defines, the next may use.
type typesetter struct {
	vm   *goja.Runtime
	call func(tex string, display bool, most int) (string, error)
	took func() int
	left *int // for all of a page
}

// start makes the engine, which takes longer than a formula.
func (t *typesetter) start() error {
	t.vm = goja.New()
	t.vm.SetMaxCallStackSize(maxCalls)
	both, err := t.vm.RunProgram(program())
	if err != nil {
		return err
	}
	functions := both.ToObject(t.vm)
	return errors.Join(t.vm.ExportTo(functions.Get("0"), &t.call), t.vm.ExportTo(functions.Get("1"), &t.took))
}

var needsDisplay = regexp.MustCompile(`\\begin\{(?:align|gather|equation|multline|CD|split)|\\tag\b`)

// typeset returns a formula as MathML. It is the door for faults of the engine.
func (t *typesetter) typeset(f formula) (mathML string, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.call = nil // another engine takes the next
			mathML, err = "", fmt.Errorf("%v", p)
		}
	}()
	if !spend(t.left, leastTeX+len(f.tex)) {
		return "", errors.New("the formulas of this notebook take too much work")
	}
	if t.call == nil {
		if err := t.start(); err != nil {
			return "", err
		}
	}
	mathML, err = t.call(f.tex, f.display || needsDisplay.MatchString(f.tex), maxTeX)
	*t.left -= max(0, t.took()-len(f.tex))
	if err != nil {
		return "", inWords(err)
	}
	return mathML, nil
}

// inWords says what the engine has against a formula.
func inWords(err error) error {
	var thrown *goja.Exception
	if !errors.As(err, &thrown) {
		return errors.New("it is nested too deeply")
	}
	said, _, _ := strings.Cut(thrown.Value().String(), " at position ")
	_, reason, _ := strings.Cut(said, "Error: ")
	return errors.New(cmp.Or(strings.TrimPrefix(strings.TrimPrefix(reason, "Error: "), "KaTeX parse error: "), said))
}
