package rehearsal

import (
	"fmt"
	"reflect"
)

// Whole returns an error if a value has the main method of a role but lacks others, and so would never be called.
func Whole(v any) error {
	t := reflect.TypeOf(v)
	for main, role := range map[string]reflect.Type{
		"Replays": reflect.TypeFor[Replayer](), "Curate": reflect.TypeFor[Curator](),
		"Prepare": reflect.TypeFor[Predictor](), "Penalise": reflect.TypeFor[Penalty](),
	} {
		if _, has := t.MethodByName(main); has && !t.Implements(role) {
			return fmt.Errorf("%s has %s, but not all methods of %s", t, main, role)
		}
	}
	return nil
}
