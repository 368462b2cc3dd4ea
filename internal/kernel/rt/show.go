package rt

import (
	"fmt"
	"reflect"
	"sync"
)

// shows are asked in turn to show a value.
var shows []func(v any) bool

// OnShow adds a function that shows values better than as text. It returns false for values that it does not know.
func OnShow(f func(v any) bool) { shows = append(shows, f) }

// Show shows the value of a cell's last expression.
func Show(v any) {
	for _, f := range shows {
		if f(v) {
			return
		}
	}
	fmt.Printf("%v\n", v)
}

// ShowAll shows what a call returned. Of the errors only those that are not nil are shown, and they end the cell.
func ShowAll(list ...any) {
	for _, v := range list {
		if err, ok := v.(error); ok {
			NoError(err)
		}
	}
	for i, v := range list {
		if v != nil || i < len(list)-1 {
			Show(v)
		}
	}
}

var variables struct {
	sync.Mutex
	byName map[string]reflect.Value // pointers
}

// Declare names a variable of a cell for the inspector.
func Declare(name string, pointer any) {
	variables.Lock()
	defer variables.Unlock()
	if variables.byName == nil {
		variables.byName = map[string]reflect.Value{}
	}
	variables.byName[name] = reflect.ValueOf(pointer)
}
