package main

import (
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// Describe writes a table of variables.
func (host) Describe(list []wire.Variable, table *string) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttype\tbytes\tvalue")
	for _, one := range list {
		if v, ok := rt.Variable(one.Name); ok {
			bytes, text := describe(v)
			fmt.Fprintf(w, "%s\t%s\t%d\t%.100s\n", one.Name, one.Type, bytes, strings.ReplaceAll(text, "\n", " "))
		}
	}
	w.Flush()
	*table = b.String()
	return nil
}

func describe(v reflect.Value) (bytes int, text string) {
	defer func() {
		if p := recover(); p != nil { // a cell may be changing the value, or its String method fails
			text = fmt.Sprint("? ", p)
		}
	}()
	bytes = sizeOf(v, 6)
	switch v.Kind() {
	case reflect.Map, reflect.Chan:
		return bytes, fmt.Sprint(v.Len(), " elements")
	case reflect.Slice:
		if v.Len() > 20 {
			return bytes, fmt.Sprint(v.Len(), " elements")
		}
	case reflect.Func:
		return bytes, "func"
	case reflect.Pointer, reflect.Struct:
		if _, ok := v.Interface().(fmt.Stringer); !ok && !v.IsZero() {
			return bytes, ""
		}
	}
	return bytes, fmt.Sprint(v.Interface())
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
