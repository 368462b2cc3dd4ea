package params

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// zeroOf is the zero value of the type that [Resolve] returns for a field of the type t.
func zeroOf(t reflect.Type) (zero any, ok bool) {
	switch t.Kind() {
	case reflect.Int, reflect.Float64:
		return 0.0, true
	case reflect.Uint64:
		return uint64(0), true
	case reflect.Bool:
		return false, true
	case reflect.String, reflect.Interface:
		return "", true
	}
	switch t {
	case reflect.TypeFor[[]int]():
		return []int(nil), true
	case reflect.TypeFor[map[string]any]():
		return map[string]any(nil), true
	}
	return nil, false
}

// typed returns a value in the parameter's type.
func (p Param) typed(v any) (any, error) {
	switch p.Default.(type) {
	case float64:
		return toFloat(v)
	case uint64:
		return toUint(v)
	case []int:
		return toInts(v)
	case bool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		if s, ok := v.(string); ok {
			if b, err := strconv.ParseBool(s); err == nil {
				return b, nil
			}
		}
		return nil, fmt.Errorf("want true or false, not %v", v)
	case map[string]any:
		if m, ok := v.(map[string]any); ok || v == "" {
			return m, nil
		}
		return nil, fmt.Errorf("want a table, not %v", v)
	}
	return fmt.Sprint(v), nil
}

func toFloat(v any) (float64, error) {
	if x, ok := v.(float64); ok {
		return x, nil
	}
	x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil {
		return 0, fmt.Errorf("want a number, not %v", v)
	}
	return x, nil
}

func toUint(v any) (uint64, error) {
	n, err := strconv.ParseUint(fmt.Sprint(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%v is not a whole number of at least 0", v)
	}
	return n, nil
}

// toInts reads a list, also as text with commas.
func toInts(v any) (list []int, err error) {
	if list, ok := v.([]int); ok {
		return list, nil
	}
	apart := func(r rune) bool { return r == ' ' || r == ',' }
	for _, text := range strings.FieldsFunc(strings.Trim(fmt.Sprint(v), "[]"), apart) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%v is not a list of whole numbers such as 128,64", v)
		}
		list = append(list, n)
	}
	return list, nil
}
