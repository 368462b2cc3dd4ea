package rt

import (
	"io"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// The host sets these, for which each cell would otherwise be linked against more.
var (
	Show       func(v any)         // shows the value of a cell's last expression
	Ask        func()              // asks the user for a line that [Give] takes
	ForgetFlag func(name string)   // removes a flag, so that it can be declared again
	Label      func(id int)        // gives the goroutine labels of its own
	Still      func(id int) string // says what of a cell goes on

	Order  func(n int, text string)            // has the kernel do a command, and [Answer]
	Spent  func() (user, system time.Duration) // processor time of the process
	Timeit func(run func(n int))               // measures what runs n times
)

// Hide takes what a call returned, which is not shown. An error at the end, if there is one, ends
// the cell.
func Hide(list ...any) {
	if err, ok := list[len(list)-1].(error); ok {
		NoError(err)
	}
}

// ShowAll shows what a call returned, but for an error, as in [Hide].
func ShowAll(list ...any) {
	Hide(list...)
	for _, v := range list {
		if v != nil {
			Show(v)
		}
	}
}

// Stdin stands for the standard input in the cells' own code. Reading asks for a line if none is
// left, which is the user's next one, or what a library has asked for.
var Stdin io.Reader = stdin{}

type stdin struct{}

var (
	reading sync.Mutex
	rest    string // of a line
	given   = make(chan string, 100)
)

func (stdin) Read(p []byte) (int, error) {
	reading.Lock()
	defer reading.Unlock()
	if rest == "" {
		Ask()
		select {
		case rest = <-given:
		case <-Context(0).Done():
			go func() { <-given }() // the answer to this question, which nobody else is to read
		}
	}
	n, err := strings.NewReader(rest).Read(p)
	rest = rest[n:]
	return n, err
}

// Give gives those who read the standard input a line, with its end. It is empty at the end of the
// input.
func Give(line string) { given <- line }

var (
	variables sync.Map // pointers by name
	memory    sync.Map // pointers by identifier: variables and functions of cells
	offered   sync.Map // functions of packages of cells
)

// Var returns the pointer to a variable. It is made when it is first asked for.
func Var(id string, make func() any) any {
	p, ok := memory.Load(id)
	if !ok {
		p, _ = memory.LoadOrStore(id, make())
	}
	return p
}

// Pointer is Var for a type that has the memory of another one.
func Pointer(id string, make func() any) unsafe.Pointer {
	return reflect.ValueOf(Var(id, make)).UnsafePointer()
}

// Offer is called by a package of cells, with functions that its plugin has under a name.
func Offer(name string, replay, run func()) { offered.Store(name, [2]func(){replay, run}) }

// Offered returns the functions that were offered under a name.
func Offered(name string) (replay, run func()) {
	f, _ := offered.LoadAndDelete(name)
	return f.([2]func())[0], f.([2]func())[1]
}

// Value returns a variable of a cell.
func Value(name string) (v reflect.Value, ok bool) {
	p, ok := variables.Load(name)
	return reflect.Indirect(reflect.ValueOf(p)), ok
}
