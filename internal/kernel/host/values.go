package host

import (
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// show shows a value as the module does, or as text.
func (h host) show(v any) {
	if !h.module.Show(v) {
		gonbui.SendData(&protocol.DisplayData{
			Data:     map[protocol.MIMEType]any{protocol.MIMETextPlain: fmt.Sprint(v)},
			Metadata: map[string]any{rt.Result: true},
		})
	}
}

// Set lists which of some variables are not zero.
func (host) Set(names []string, set *[]string) error {
	for _, name := range names {
		if v, ok := rt.Value(name); ok && !v.IsZero() {
			*set = append(*set, name)
		}
	}
	return nil
}

// Describe writes a table of what cells have declared.
func (host) Describe(list []rt.Variable, table *string) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttype\tbytes\tvalue")
	for _, one := range list {
		var bytes, text string
		if v, ok := rt.Value(one.Name); ok {
			err := foreign("?", func() error {
				bytes, text = fmt.Sprint(sizeOf(v, 6)), textOf(v)
				return nil
			})
			if err != nil {
				text = err.Error()
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.100s\n", one.Name, one.Type, bytes, strings.ReplaceAll(text, "\n", " "))
	}
	w.Flush()
	*table = b.String()
	return nil
}

// textOf shows a value in short. Values that can be large are not read as a whole.
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

// sizeOf estimates the memory of a value. It follows pointers for a few steps, since libraries hold
// large graphs, and looks at the first element of a slice, since the others are much alike.
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
