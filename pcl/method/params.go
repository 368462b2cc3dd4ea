package method

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param declares one parameter of a method.
type Param struct {
	Name    string   `json:"name"`
	Default any      `json:"default"` // a float64, bool or string, which also determines the parameter's type
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc"`
}

// checkParams returns an error if two parameters have the same name, or if a default is not of a type that parameters have, or
// none of the choices.
func checkParams(params []Param) error {
	for i, d := range params {
		if slices.ContainsFunc(params[:i], func(other Param) bool { return other.Name == d.Name }) {
			return fmt.Errorf("there are two parameters %q", d.Name)
		}
		switch d.Default.(type) {
		case float64, bool, string:
		default:
			return fmt.Errorf("the default of the parameter %q has the type %T, want float64, bool or string", d.Name, d.Default)
		}
		if s, _ := d.Default.(string); len(d.Choices) > 0 && !slices.Contains(d.Choices, s) {
			return fmt.Errorf("the default %v of the parameter %q is none of its choices", d.Default, d.Name)
		}
	}
	return nil
}

// cloned copies parameters, so that who gets them can change them.
func cloned(params []Param) []Param {
	out := slices.Clone(params)
	for i := range out {
		out[i].Choices = slices.Clone(out[i].Choices)
	}
	return out
}

// Params holds a value for every parameter of a method. Float, Bool and String panic if the method has no such parameter, or
// one of another type, which is a mistake in its [Spec].
type Params map[string]any

// Float returns a parameter that is a number.
func (p Params) Float(name string) float64 { return p[name].(float64) }

// Bool returns a parameter that is true or false.
func (p Params) Bool(name string) bool { return p[name].(bool) }

// String returns a parameter that is a text.
func (p Params) String(name string) string { return p[name].(string) }

func resolve(method string, declared []Param, given map[string]any) (Params, error) {
	p := Params{}
	for _, d := range declared {
		p[d.Name] = d.Default
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(declared, func(d Param) bool { return d.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("method %s has no parameter %q; it has %s", method, name, names(declared))
		}
		value, err := convert(declared[i], given[name])
		if err != nil {
			return nil, fmt.Errorf("method %s: parameter %s: %w", method, name, err)
		}
		p[name] = value
	}
	return p, nil
}

func names(declared []Param) string {
	var s []string
	for _, d := range declared {
		s = append(s, d.Name)
	}
	return strings.Join(s, ", ")
}

// convert accepts what TOML, JSON and the command line deliver for a declared type.
func convert(d Param, v any) (any, error) {
	switch d.Default.(type) {
	case float64:
		return toFloat(v)
	case bool:
		switch v := v.(type) {
		case bool:
			return v, nil
		case string:
			return strconv.ParseBool(v)
		}
		return nil, fmt.Errorf("want true or false, not %v", v)
	}
	s, ok := v.(string)
	if !ok {
		s = fmt.Sprint(v)
	}
	if len(d.Choices) > 0 && !slices.Contains(d.Choices, s) {
		return nil, fmt.Errorf("%q is not one of %s", s, strings.Join(d.Choices, ", "))
	}
	return s, nil
}

func toFloat(v any) (float64, error) {
	var x float64
	switch v := v.(type) {
	case float64:
		x = v
	case int64:
		x = float64(v)
	case int:
		x = float64(v)
	case string:
		var err error
		if x, err = strconv.ParseFloat(v, 64); err != nil {
			return 0, fmt.Errorf("%q is not a number", v)
		}
	default:
		return 0, fmt.Errorf("want a number, not %v", v)
	}
	if math.IsNaN(x) {
		return 0, fmt.Errorf("NaN is not a value")
	}
	return x, nil
}
