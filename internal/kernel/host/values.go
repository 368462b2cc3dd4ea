package host

import (
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
	"github.com/parallelcl/parallelcl/viz/nb"
)

// Show shows the value of a cell's last expression: as package nb does, or as text.
func Show(v any) {
	if !nb.ShowValue(v) {
		gonbui.SendData(&protocol.DisplayData{
			Data:     map[protocol.MIMEType]any{protocol.MIMETextPlain: fmt.Sprint(v)},
			Metadata: map[string]any{wire.Result: true},
		})
	}
}

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

// Parse stands for flag.Parse, which would end the program on an error.
func Parse() { NoError(flag.CommandLine.Parse(os.Args[1:])) }

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

// Stdin stands for the standard input in the cells' own code. Reading asks for a line if none is left, which is the user's next
// one, or what a library has asked for.
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
		gonbui.RequestInput("", false)
		select {
		case rest = <-given:
		case <-Context().Done():
		}
	}
	n, err := strings.NewReader(rest).Read(p)
	rest = rest[n:]
	return n, err
}

// Scan is fmt.Scan; Scanln and Scanf likewise.
func Scan(a ...any) (int, error) { return fmt.Fscan(Stdin, a...) }

// Scanln is fmt.Scanln.
func Scanln(a ...any) (int, error) { return fmt.Fscanln(Stdin, a...) }

// Scanf is fmt.Scanf.
func Scanf(format string, a ...any) (int, error) { return fmt.Fscanf(Stdin, format, a...) }

var variables sync.Map // pointers by name

// Declare names a variable of a cell.
func Declare(name string, pointer any) { variables.Store(name, pointer) }

func variable(name string) (v reflect.Value, ok bool) {
	p, ok := variables.Load(name)
	return reflect.Indirect(reflect.ValueOf(p)), ok
}

// Describe writes a table of what cells have declared.
func (host) Describe(list []wire.Variable, table *string) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttype\tbytes\tvalue")
	for _, one := range list {
		var bytes, text string
		if v, ok := variable(one.Name); ok {
			err := safely(func() error { bytes, text = fmt.Sprint(sizeOf(v, 6)), textOf(v); return nil })
			if err != nil {
				text = "? " + err.Error()
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.100s\n", one.Name, one.Type, bytes, strings.ReplaceAll(text, "\n", " "))
	}
	w.Flush()
	*table = b.String()
	return nil
}

// safely does something with values that a cell may be changing meanwhile.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return do()
}

// textOf shows a value in short. What can be large is not read as a whole.
func textOf(v reflect.Value) string {
	switch v.Interface().(type) {
	case fmt.Stringer, error:
		return fmt.Sprint(v.Interface())
	}
	switch v.Kind() {
	case reflect.Map, reflect.Chan, reflect.Slice:
		return fmt.Sprint(v.Len(), " elements")
	case reflect.Func, reflect.Pointer, reflect.Struct, reflect.Array, reflect.Interface:
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// sizeOf estimates the memory of a value. It follows pointers for a few steps, since libraries hold large graphs, and looks at
// the first element of a slice, since the others are much alike.
func sizeOf(v reflect.Value, steps int) int {
	size := int(v.Type().Size())
	switch k := v.Kind(); {
	case steps == 0:
	case k == reflect.String:
		size += v.Len()
	case k == reflect.Slice && v.Len() > 0:
		size += v.Len() * sizeOf(v.Index(0), steps-1)
	case k == reflect.Map:
		size += v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
	case (k == reflect.Pointer || k == reflect.Interface) && !v.IsNil():
		size += sizeOf(v.Elem(), steps-1)
	case k == reflect.Struct:
		for t, f := range v.Fields() {
			size += sizeOf(f, steps-1) - int(t.Type.Size())
		}
	}
	return size
}
