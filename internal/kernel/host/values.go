package host

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/valuetext"
)

// show shows a value as the module does, or as text.
func (h host) show(v any) {
	if !h.module.Show(v) {
		gonbui.SendData(&protocol.DisplayData{
			Data:     map[protocol.MIMEType]any{protocol.MIMETextPlain: valuetext.Of(v, valuetext.Shown)},
			Metadata: map[string]any{rt.Result: true},
		})
	}
}

// running is held for reading while a cell runs.
var running sync.RWMutex

// Value writes the value of a variable in short. Where a cell runs, which may be changing it, that
// is said instead.
func (host) Value(name string, text *string) error {
	v, ok := rt.Value(name)
	switch {
	case !ok:
		return nil
	case !running.TryLock():
		*text = "a cell is running"
		return nil
	}
	defer running.Unlock()
	kind := ""
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
		kind = " (" + v.Type().String() + ")"
	}
	_, *text = glance(v, valueLimit)
	*text += kind
	return nil
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
	fmt.Fprintln(w, "name\tkind\ttype\tbytes\tvalue")
	for _, one := range list {
		bytes, text := "", one.Value
		if v, ok := rt.Value(one.Name); ok {
			bytes, text = glance(v, glanceLimit)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", one.Name, one.Kind, one.Type, bytes,
			strings.ReplaceAll(printable.Cut(text, glanceLimit), "\n", " "))
	}
	w.Flush()
	*table = b.String()
	return nil
}

const (
	glanceLimit = 60                     // bytes of a value in the table, and
	valueLimit  = 400                    // in the inspector
	glanceTime  = 500 * time.Millisecond // for a method of a library
)

// glance is the size of a value and its text in short. Cells may be changing it meanwhile, and a
// method of a library may wait for something.
func glance(v reflect.Value, limit int) (bytes, text string) {
	done := make(chan [2]string, 1)
	go func() {
		size := "?"
		foreign(size, func() error { size = fmt.Sprint(sizeOf(v, 6)); return nil }) // else it is being changed
		done <- [2]string{size, valuetext.Glance(v, limit)}
	}()
	select {
	case found := <-done:
		return found[0], found[1]
	case <-time.After(glanceTime):
		return "?", "it does not answer"
	}
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
