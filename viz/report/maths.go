package report

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// katex has KaTeX 0.19.1 as npm has it (SHA-256 fa140498b8cfc8302cbe5e7cb1bdbc1f952bc38b3fa258ede09e73edbf9a74bc), its licence
// (MIT), and what we add to it.
//
//go:embed katex
var katex embed.FS

// Bounds of formulas. Those that exceed them are shown as they were typed.
const (
	maxFormula   = 10_000           // bytes
	maxCalls     = 2000             // calls of functions in each other, which some 200 levels of braces take
	formulaTime  = time.Second / 2  // for one formula
	formulasTime = 30 * time.Second // for all of a notebook
)

// program is KaTeX with our additions, compiled once. Its value is a function that makes MathML.
var program = sync.OnceValue(func() *goja.Program {
	library, _ := katex.ReadFile("katex/katex.min.js") // which are there
	shims, _ := katex.ReadFile("katex/shims.js")
	return goja.MustCompile("katex.js", string(library)+"\n"+string(shims), true)
})

// typesetter makes MathML of the formulas of one notebook: what one defines, the next may use.
type typesetter struct {
	vm   *goja.Runtime
	call goja.Callable
	used time.Duration
}

// start makes the engine, which takes longer than a formula.
func (t *typesetter) start() {
	t.vm = goja.New()
	t.vm.SetMaxCallStackSize(maxCalls)
	typeset, err := t.vm.RunProgram(program())
	if err != nil {
		panic(err)
	}
	t.call, _ = goja.AssertFunction(typeset)
}

var needsDisplay = regexp.MustCompile(`\\begin\{(?:align|gather|equation|multline|CD|split)|\\tag\b`)

// typeset returns a formula as MathML.
func (t *typesetter) typeset(f formula) (mathML string, err error) {
	switch {
	case t.used > formulasTime:
		return "", errors.New("the formulas of this notebook take too long")
	case t.call == nil:
		t.start()
	}
	begin, vm := time.Now(), t.vm
	timer := time.AfterFunc(formulaTime, func() { vm.Interrupt("it takes too long") })
	defer func() {
		p := recover() // from a fault of the engine
		if p != nil {
			mathML, err = "", fmt.Errorf("%v", p)
		}
		if !timer.Stop() || p != nil {
			t.call = nil // the interruption may be still to come
		}
		t.used += time.Since(begin)
	}()
	value, err := t.call(goja.Undefined(), vm.ToValue(f.tex), vm.ToValue(f.display || needsDisplay.MatchString(f.tex)))
	if err != nil {
		return "", inWords(err)
	}
	return value.String(), nil
}

// inWords says what the engine has against a formula.
func inWords(err error) error {
	var thrown *goja.Exception
	var late *goja.InterruptedError
	switch {
	case errors.As(err, &late):
		return fmt.Errorf("%v", late.Value())
	case !errors.As(err, &thrown):
		return errors.New("it is nested too deeply")
	}
	said, _, _ := strings.Cut(thrown.Value().String(), " at position ")
	_, reason, _ := strings.Cut(said, "Error: ")
	return errors.New(cmp.Or(strings.TrimPrefix(reason, "KaTeX parse error: "), said))
}
