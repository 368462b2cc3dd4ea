// Package valuetext writes Go values as text for people to read. The text has bounds, whatever the
// value: it may be long, lead to itself, or change meanwhile.
package valuetext

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Shown is how many bytes of text a value becomes that is shown by itself.
const Shown = 20_000

const (
	listLimit  = 100     // elements of a list or map that are all shown; of a longer one
	listHead   = 20      // the first
	listTail   = 5       // and the last are
	sortLimit  = 100_000 // elements of a map that are read, to be put in order
	depthLimit = 8       // of values within values
	chainLimit = 10      // errors that an error wraps
)

// Of is the text of a value, of about limit bytes: lists and maps as package fmt writes them,
// structs and pointers as Go does. A string stands as it is, and an error above those that it
// wraps.
func Of(v any, limit int) string {
	w := writer{limit: limit, within: map[address]bool{}}
	return w.guarded(func() {
		switch x := v.(type) {
		case error:
			w.text(fmt.Sprint(x))
			w.wrapped(x, 1, map[string]bool{})
		case reflect.Value: // of what it holds
			if x.IsValid() && !x.CanInterface() { // in a field that is not exported
				x = reflect.ValueOf(x.String())
			}
			w.write(x)
		default:
			w.write(reflect.ValueOf(v))
		}
	})
}

// Glance is like [Of] for a value that others may be changing. It reads no map, and calls no method
// of a type of the program itself.
func Glance(v reflect.Value, limit int) string {
	w := writer{limit: limit, within: map[address]bool{}, glance: true}
	return w.guarded(func() { w.write(v) })
}

// guarded is the text of what do writes. Its panic ends the text.
func (w *writer) guarded(do func()) (text string) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("%s … (it is being changed: %v)", w, p)
		}
	}()
	do()
	return w.String()
}

type writer struct {
	strings.Builder
	limit  int
	glance bool
	within map[address]bool // of what is being written
}

type address struct {
	p unsafe.Pointer
	t reflect.Type
}

// isOwn says whether a package is the program itself, or a notebook.
func isOwn(pkg string) bool { return path.Base(pkg) == "main" }

// text writes a text, or its begin and its end.
func (w *writer) text(s string) {
	if n := len(s); n > w.limit {
		s = fmt.Sprintf("%s … %s (len %d)", strings.ToValidUTF8(s[:w.limit/4*3], ""),
			strings.ToValidUTF8(s[n-w.limit/4:], ""), n)
	}
	w.WriteString(s)
}

// write writes a value.
func (w *writer) write(v reflect.Value) {
	switch {
	case !v.IsValid():
		w.WriteString("<nil>")
		return
	case len(w.within) > depthLimit, w.Len() > w.limit:
		w.WriteString("…")
		return
	case !v.CanAddr(): // the fields of a copy can be read, also those that are not exported
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	if w.method(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		at := address{v.UnsafePointer(), v.Type()}
		if w.within[at] {
			w.WriteString("<cycle>")
			return
		}
		w.within[at] = true
		defer delete(w.within, at)
	}
	switch v.Kind() {
	case reflect.Interface:
		w.write(v.Elem())
	case reflect.Pointer:
		if !v.IsNil() {
			w.WriteString("&")
		}
		w.write(v.Elem())
	case reflect.Map:
		w.mapping(v)
	case reflect.Slice, reflect.Array:
		w.elements(v)
	case reflect.Struct:
		w.structure(v)
	case reflect.String:
		if w.Len() == 0 {
			w.text(v.String())
		} else {
			w.quoted("%q", v.String(), v.Len())
		}
	case reflect.Func:
		w.WriteString(nameOf(v.Type()))
	case reflect.Chan:
		fmt.Fprintf(w, "%s (len %d, cap %d)", nameOf(v.Type()), v.Len(), v.Cap())
	default:
		w.WriteString(basic(v))
	}
}

// method writes a value by its method, if it has one.
func (w *writer) method(v reflect.Value) bool {
	of := v.Type()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if v.Kind() == reflect.Interface || w.glance && isOwn(of.PkgPath()) {
		return false
	}
	switch x := v.Interface().(type) {
	case reflect.Value: // package fmt would write what it holds, without an end
	case error, fmt.Stringer, fmt.Formatter:
		t := fmt.Sprint(x)
		if w.Len() > 0 { // in a line
			t = strings.ReplaceAll(t, "\n", " ")
		}
		w.text(t)
		return true
	}
	return false
}

// basic is the text of a number or a bool, without a method of its type.
func basic(v reflect.Value) string {
	switch {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case v.CanComplex():
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return fmt.Sprint(v.UnsafePointer())
}

// quoted writes a string of n bytes in a form, or its begin.
func (w *writer) quoted(form, s string, n int) {
	left := max(0, w.limit-w.Len())
	fmt.Fprintf(w, form, strings.ToValidUTF8(s[:min(left, len(s))], ""))
	if n > left {
		fmt.Fprintf(w, "… (len %d)", n)
	}
}

// elements writes a slice or an array; one of bytes as text, if it is text.
func (w *writer) elements(v reflect.Value) {
	n := v.Len()
	if v.Type().Elem().Kind() == reflect.Uint8 && n > 0 {
		head := string(v.Slice(0, min(n, w.limit)).Bytes())
		if sample := strings.ToValidUTF8(head[:min(len(head), 200)], ""); len(sample) > min(n, 200)-utf8.UTFMax &&
			!strings.ContainsFunc(sample, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\n\r\t", r) }) {
			w.quoted(strings.ReplaceAll(nameOf(v.Type()), "%", "")+"(%q)", head, n)
			return
		}
	}
	w.list("[", "]", " ", n, n, func(i int) { w.write(v.Index(i)) })
}

// list writes n elements of a list that has all of these, or the first and the last ones.
func (w *writer) list(begin, end, between string, n, all int, element func(i int)) {
	w.WriteString(begin)
	for i, cut := 0, false; i < n; i++ {
		if !cut && (n > listLimit && i == listHead || w.Len() > w.limit && n-i > listTail) {
			i, cut = max(i, n-listTail), true
			w.WriteString(between + "…")
		}
		if i > 0 {
			w.WriteString(between)
		}
		element(i)
	}
	if w.WriteString(end); n > listLimit || all > n {
		fmt.Fprintf(w, " (len %d)", all)
	}
}

// mapping writes a map, in the order of its keys.
func (w *writer) mapping(v reflect.Value) {
	if w.glance {
		fmt.Fprintf(w, "%s (len %d)", nameOf(v.Type()), v.Len())
		return
	}
	var entries [][2]reflect.Value
	for i := v.MapRange(); i.Next() && len(entries) < sortLimit; {
		entries = append(entries, [2]reflect.Value{i.Key(), i.Value()})
	}
	slices.SortStableFunc(entries, func(a, b [2]reflect.Value) int { return compare(a[0], b[0]) })
	w.list("map[", "]", " ", len(entries), v.Len(), func(i int) {
		w.write(entries[i][0])
		w.WriteString(":")
		w.write(entries[i][1])
	})
}

// compare orders keys of a map. Those of other kinds than numbers and strings have any order.
func compare(a, b reflect.Value) int {
	if a.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	switch {
	case a.Kind() != b.Kind():
		return cmp.Compare(a.Kind(), b.Kind())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	}
	return 0
}

// structure writes a struct: of a library's type the exported fields.
func (w *writer) structure(v reflect.Value) {
	var fields []string
	var values []reflect.Value
	for f, value := range v.Fields() {
		if f.IsExported() || isOwn(f.PkgPath) {
			fields = append(fields, f.Name+":")
			values = append(values, reflect.NewAt(f.Type, value.Addr().UnsafePointer()).Elem())
		}
	}
	if len(fields) < v.NumField() {
		fields = append(fields, "…")
	}
	if v.Type().Name() != "" {
		w.WriteString(nameOf(v.Type()))
	}
	w.list("{", "}", ", ", len(fields), len(fields), func(i int) {
		if w.WriteString(fields[i]); i < len(values) {
			w.write(values[i])
		}
	})
}

// nameOf is the name of a type as code has it, in the program itself.
func nameOf(t reflect.Type) string {
	name := strings.NewReplacer("interface {}", "any", "[]uint8", "[]byte").Replace(t.String())
	return ownName.ReplaceAllString(name, "")
}

var ownName = regexp.MustCompile(`\bmain\.`)

// wrapped writes the errors that an error wraps, each once.
func (w *writer) wrapped(err error, depth int, seen map[string]bool) {
	var list []error
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if v := reflect.ValueOf(x); v.Kind() != reflect.Pointer || !v.IsNil() {
			list = []error{x.Unwrap()}
		}
	case interface{ Unwrap() []error }:
		list = x.Unwrap()
	}
	for _, e := range list {
		if e == nil || len(seen) >= chainLimit {
			continue
		}
		line := fmt.Sprintf("%s: %s", nameOf(reflect.TypeOf(e)), strings.ReplaceAll(fmt.Sprint(e), "\n", " "))
		if !seen[line] {
			seen[line] = true
			w.WriteString("\n" + strings.Repeat("  ", depth))
			w.text(line)
			w.wrapped(e, depth+1, seen)
		}
	}
}
