package host

import (
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// Describe writes a table of what cells have declared.
func (host) Describe(list []wire.Variable, table *string) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttype\tbytes\tvalue")
	for _, one := range list {
		v, ok := rt.Variable(one.Name)
		if !ok { // it is no variable
			fmt.Fprintf(w, "%s\t%s\t\t\n", one.Name, one.Type)
			continue
		}
		var bytes int
		var text string
		err := safely(func() error { bytes, text = sizeOf(v, 6), textOf(v); return nil })
		if err != nil {
			text = "? " + err.Error()
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.100s\n", one.Name, one.Type, bytes, strings.ReplaceAll(text, "\n", " "))
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
// the first elements of a slice, since they are much alike.
func sizeOf(v reflect.Value, steps int) int {
	size := int(v.Type().Size())
	if steps == 0 {
		return size
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			size += sizeOf(v.Elem(), steps-1)
		}
	case reflect.String:
		size += v.Len()
	case reflect.Slice:
		some, all := min(v.Len(), 10), 0
		for i := range some {
			all += sizeOf(v.Index(i), steps-1)
		}
		size += all * v.Len() / max(some, 1)
	case reflect.Struct:
		for i := range v.NumField() {
			size += sizeOf(v.Field(i), steps-1) - int(v.Field(i).Type().Size())
		}
	case reflect.Map:
		size += v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
	}
	return size
}
