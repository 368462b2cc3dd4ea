package rt

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// guardName is how [Guard] is called on a stack.
var guardName = reflect.TypeFor[execution]().PkgPath() + ".Guard"

// Catchers are functions of libraries that recover and report a panic of what they call. The host
// adds those of the module.
var Catchers = []string{
	"net/http.(*conn).serve", "net/http.(*http2serverConn).runHandler", "iter.Pull", "fmt.(*pp).handleMethods",
	"text/template.safeCall",
}

var told sync.Map // what was told of panics of earlier cells

// Guard is called by a function of a cell that a panic ends, from a deferred function of it that
// has recovered p. The panic goes on, as if nobody had recovered it, where a cell or one that tells
// it can take it. Else only a library's goroutine is left, and the panic would end the process:
// only the call ends, and its cell is stopped for the panic. id is the cell whose code this is.
//
//go:noinline
func Guard(id int, p any) {
	if outermost, taken := place(); !outermost || taken && p != errStopped {
		panic(p)
	}
	why := errStopped
	if f := failureOf(p); f != "" {
		why = errors.New(f)
	}
	if e := owner(id); !e.over.Load() {
		e.stop(why)
	} else if why != errStopped {
		if _, again := told.LoadOrStore(why.Error(), true); !again { // a library may call once more
			fmt.Fprintln(os.Stderr, "A call of an earlier cell's code has ended:", why)
		}
	}
}

// place says whether the function that has called [Guard] is the outermost one of cells on the
// stack, and whether a panic that leaves it is taken. The guards that have run in this panic, of
// calls of functions of cells, are all on the stack: the one by which a function that has called
// itself leaves its outermost call is the last one.
func place() (outermost, taken bool) {
	type function struct{ name, file string }
	var own, last function
	inner, calls, left := "", 0, 0
	for f := range stack() {
		at := function{f.Function, f.File}
		switch isCell := isCells(f) || inner == guardName; {
		case isCell && inner == guardName:
			at.name = at.name[:strings.LastIndexByte(at.name, '.')]
			if own.name == "" {
				own = at
			}
			if at == own {
				left++
			}
		case isCell:
			if last, taken = at, false; at == own {
				calls++
			}
		default:
			taken = taken || slices.ContainsFunc(Catchers, func(name string) bool { return strings.HasPrefix(f.Function, name) })
		}
		inner = f.Function
	}
	return last == own && calls == left, taken
}
