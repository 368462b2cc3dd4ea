package rt

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"sync"
)

// Show shows the value of a cell's last expression. The host sets it.
var Show = func(v any) { fmt.Println(v) }

// ShowAll shows what a call returned. An error at the end, if there is one, ends the cell.
func ShowAll(list ...any) {
	if err, ok := list[len(list)-1].(error); ok {
		NoError(err)
	}
	for _, v := range list {
		if v != nil {
			Show(v)
		}
	}
}

var variables sync.Map // pointers by name

// Declare names a variable of a cell.
func Declare(name string, pointer any) { variables.Store(name, pointer) }

// Variable returns a variable of a cell.
func Variable(name string) (v reflect.Value, ok bool) {
	p, ok := variables.Load(name)
	return reflect.Indirect(reflect.ValueOf(p)), ok
}

// ParseFlags parses the arguments of the program, where GoNB's main begins.
func ParseFlags() { NoError(flag.CommandLine.Parse(os.Args[1:])) }

// ForgetFlag removes a flag, so that it can be declared again.
func ForgetFlag(name string) {
	old := flag.CommandLine
	flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ContinueOnError)
	old.VisitAll(func(f *flag.Flag) {
		if f.Name != name {
			flag.CommandLine.Var(f.Value, f.Name, f.Usage)
		}
	})
}
