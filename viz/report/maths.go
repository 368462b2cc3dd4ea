package report

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
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
	library, err := katex.ReadFile("katex/katex.min.js")
	additions, err2 := katex.ReadFile("katex/shims.js")
	if err := cmp.Or(err, err2); err != nil {
		panic(err)
	}
	return goja.MustCompile("katex.js", string(library)+"\n"+string(additions), true)
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

// typeset returns a formula as MathML.
func (t *typesetter) typeset(tex string, display bool) (mathML string, err error) {
	switch {
	case len(tex) > maxFormula:
		return "", fmt.Errorf("it has more than %d characters", maxFormula)
	case t.used > formulasTime:
		return "", errors.New("the formulas of this notebook take too long")
	case t.call == nil:
		t.start()
	}
	defer func() {
		if p := recover(); p != nil { // a fault of the engine
			mathML, err = "", fmt.Errorf("%v", p)
		}
	}()
	defer t.interruptAfter(formulaTime)()
	begin := time.Now()
	value, err := t.call(goja.Undefined(), t.vm.ToValue(tex), t.vm.ToValue(display || needsDisplay.MatchString(tex)))
	t.used += time.Since(begin)
	if err != nil {
		return "", inWords(err)
	}
	return value.String(), nil
}

// interruptAfter stops the engine after a while, unless the function that it returns is called before.
func (t *typesetter) interruptAfter(d time.Duration) (end func()) {
	fired := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		t.vm.Interrupt("time")
		close(fired)
	})
	return func() {
		if !timer.Stop() {
			<-fired
		}
		t.vm.ClearInterrupt()
	}
}

// inWords says what the engine has against a formula.
func inWords(err error) error {
	var thrown *goja.Exception
	var late *goja.InterruptedError
	switch {
	case errors.As(err, &late):
		return errors.New("it takes too long")
	case !errors.As(err, &thrown):
		return errors.New("it is nested too deeply")
	}
	said, _, _ := strings.Cut(thrown.Value().String(), " at position ")
	_, reason, _ := strings.Cut(said, "Error: ")
	return errors.New(cmp.Or(strings.TrimPrefix(reason, "KaTeX parse error: "), said))
}
