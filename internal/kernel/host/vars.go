package host

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// describeAll describes the variables of these names.
func describeAll(r wire.Request) {
	a := wire.Answer{ID: r.ID}
	for _, name := range r.List {
		if v, ok := rt.Variable(name); ok {
			a.Variables = append(a.Variables, describe(name, v))
		}
	}
	say(a)
}

// longest is how much of a value a description shows.
const longest = 100

func describe(name string, v reflect.Value) (d wire.Variable) {
	d.Name = name
	defer func() {
		if p := recover(); p != nil { // a cell may be changing the value, or its String method fails
			d.Value = fmt.Sprint("? ", p)
		}
	}()
	d.Bytes = sizeOf(v, map[uintptr]bool{}, 0)
	d.Value = strings.ReplaceAll(valueText(v), "\n", " ")
	if r := []rune(d.Value); len(r) > longest {
		d.Value = string(r[:longest]) + "…"
	}
	return d
}

func valueText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Chan:
		if v.Len() > 20 || v.Kind() == reflect.Map || v.Kind() == reflect.Chan {
			return fmt.Sprintf("%d elements", v.Len())
		}
	case reflect.Func:
		return "func"
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Struct {
		return ""
	}
	return fmt.Sprintf("%v", v.Interface())
}

// sizeOf estimates the memory of a value. It stops at some depth, since libraries hold large graphs.
func sizeOf(v reflect.Value, seen map[uintptr]bool, depth int) int64 {
	size := int64(v.Type().Size())
	if depth > 6 || len(seen) > 10000 {
		return size
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return size
		}
		seen[v.Pointer()] = true
		return size + sizeOf(v.Elem(), seen, depth+1)
	case reflect.Interface:
		if !v.IsNil() {
			size += sizeOf(v.Elem(), seen, depth+1)
		}
	case reflect.String:
		size += int64(v.Len())
	case reflect.Slice:
		size += sizeOfElements(v, seen, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			size += sizeOf(f, seen, depth+1) - int64(f.Type().Size())
		}
	case reflect.Map:
		size += int64(v.Len()) * int64(v.Type().Key().Size()+v.Type().Elem().Size())
	}
	return size
}

// sizeOfElements estimates the memory of a slice's elements from the first ones, since they are much alike.
func sizeOfElements(v reflect.Value, seen map[uintptr]bool, depth int) (size int64) {
	n := v.Len()
	switch v.Type().Elem().Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Struct, reflect.Map:
		most := min(n, 100)
		for i := range most {
			size += sizeOf(v.Index(i), seen, depth+1)
		}
		return size * int64(n) / int64(max(most, 1))
	}
	return int64(n) * int64(v.Type().Elem().Size())
}

// setArgs gives the program of the notebook other arguments, which it can parse as flags.
func setArgs(r wire.Request) {
	os.Args = append(os.Args[:1:1], r.List...)
	flag.CommandLine.Init(os.Args[0], flag.ContinueOnError)
	finish(r, nil)
}
