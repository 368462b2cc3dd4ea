package host

import (
	"reflect"
	"sync"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

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
