package valuetext

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

type node struct {
	Name string
	Next *node
	age  int
}

type loud struct{ N int }

func (loud) String() string { panic("loud") }

type byPointer struct{ N int }

func (b *byPointer) String() string { return fmt.Sprint("number ", b.N) }

// around leads to itself by its error, too.
type around struct{}

func (around) Error() string   { return "around" }
func (a around) Unwrap() error { return a }

func TestOf(t *testing.T) {
	ring, list, table := &node{Name: "a"}, []any{nil}, map[string]any{}
	ring.Next, list[0], table["m"] = ring, list, table
	deep := &node{Name: "deep"}
	for range 100_000 {
		deep = &node{Next: deep, age: 1}
	}
	big := map[int]int{}
	for i := range 1000 {
		big[i] = -i
	}
	_, missing := os.Open("/nonexistent")
	var none *fs.PathError
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"nil":                   {nil, "<nil>"},
		"a string":              {"a \"b\"\nc", "a \"b\"\nc"},
		"a named string":        {fs.ErrExist.Error(), "file already exists"},
		"a list":                {[]int{1, 2, 3}, "[1 2 3]"},
		"strings in a list":     {[]string{"a", "b c"}, `["a" "b c"]`},
		"a pointer":             {&node{Name: "a"}, `&valuetext.node{Name:"a", Next:<nil>, …}`},
		"a pointer to a number": {new(int), "&0"},
		"a pointer to itself":   {ring, `&valuetext.node{Name:"a", Next:<cycle>, …}`},
		"a list in itself":      {list, "[<cycle>]"},
		"a map in itself":       {table, `map["m":<cycle>]`},
		"the same value twice": {[]*node{ring.Next, ring},
			`[&valuetext.node{Name:"a", Next:<cycle>, …} &valuetext.node{Name:"a", Next:<cycle>, …}]`},
		"a nil map":               {map[string]int(nil), "map[]"},
		"a key that is NaN":       {map[float64]int{math.NaN(): 1, 2: 3}, "map[NaN:1 2:3]"},
		"keys of several kinds":   {map[any]int{"a": 1, 2: 2}, `map[2:2 "a":1]`},
		"text in bytes":           {[]byte("hé"), `[]byte("hé")`},
		"other bytes":             {[]byte{0, 255}, "[0 255]"},
		"a function":              {strings.ToUpper, "func(string) string"},
		"a channel":               {make(chan int, 3), "chan int (len 0, cap 3)"},
		"a library's struct":      {&sync.Mutex{}, "&sync.Mutex{…}"},
		"a method":                {[]time.Duration{time.Second}, "[1s]"},
		"a method of the pointer": {[]any{&byPointer{3}, byPointer{3}}, "[number 3 valuetext.byPointer{N:3}]"},
		"a method that panics":    {loud{}, "%!v(PANIC=String method: loud)"},
		"a reflected value":       {reflect.ValueOf(3), "3"},
		"floats":                  {[]any{float32(0.1), 1e21, 2i}, "[0.1 1e+21 (0+2i)]"},
		"a nil error":             {none, "<nil>"},
		"an error around itself":  {around{}, "around\n  valuetext.around: around"},
		"a chain": {errors.Join(fmt.Errorf("load: %w", missing), missing),
			"load: open /nonexistent: no such file or directory\nopen /nonexistent: no such file or directory\n" +
				"  *fmt.wrapError: load: open /nonexistent: no such file or directory\n" +
				"    *fs.PathError: open /nonexistent: no such file or directory\n" +
				"      syscall.Errno: no such file or directory"},
		"a long list": {make([]int, 1e5), "[" + strings.Repeat("0 ", 20) + "… 0 0 0 0 0] (len 100000)"},
		"a long string": {strings.Repeat("é", 1e6), strings.Repeat("é", 750) + " … " + strings.Repeat("é", 250) +
			" (len 2000000)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Of(c.v, 2000); got != c.want {
				t.Errorf("it is %q; want %q", got, c.want)
			}
		})
	}
	for name, v := range map[string]any{
		"a deep value": deep, "a large map": big, "large lists": [3][]string{strings.Fields(strings.Repeat("word ", 1e5))},
		"bytes": make([]byte, 1e7), "text": []byte(strings.Repeat("a", 1e7)),
		"an error":       errors.New(strings.Repeat("e", 1e7)),
		"lists of lists": [][][]float64{{make([]float64, 1e4), make([]float64, 1e4)}, {make([]float64, 1e4)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Of(v, 2000); len(got) > 3000 {
				t.Errorf("%d bytes: %.100s", len(got), got)
			}
		})
	}
}

// shrinking is an element of a list that becomes empty when it is shown.
type shrinking struct{ list *[]shrinking }

func (s shrinking) String() string { *s.list = nil; return "one" }

func TestChanging(t *testing.T) {
	list := make([]shrinking, 3)
	list[0].list = &list
	if got := Of(&list, 1000); !strings.HasPrefix(got, "&[one ") || !strings.Contains(got, "it is being changed") {
		t.Errorf("it is %q", got)
	}
}

func TestGlance(t *testing.T) {
	table := map[string]int{"a": 1}
	for want, v := range map[string]any{"map[string]int (len 1)": &table, "1s": new(time.Second), "[1 2]": &[]int{1, 2}} {
		if got := Glance(reflect.ValueOf(v).Elem(), 60); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
