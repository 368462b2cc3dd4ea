package params

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type all struct {
	Tau   any      `param:"tau" default:"5" doc:"a number or a word"`
	Alpha *float64 `param:"alpha" default:"0.3" range:"[0,1)" doc:"zero is a choice"`
	Pool  float64  `param:"pool" default:"10" range:"whole [1,inf]" doc:"zero is the default"`
	Rate  float64  `param:"rate" default:"2" doc:"without a range"`
	Mode  string   `param:"mode" default:"one" choices:"one,two" doc:"a choice"`
	Flag  bool     `param:"flag" default:"false" doc:"a truth value"`
	Every int      `param:"every" default:"1" range:"whole [1,9]" doc:"a whole number"`
	Own   int      // not a parameter
	state []int
}

func TestOf(t *testing.T) {
	var names []string
	for _, p := range Of(all{}) {
		names = append(names, p.Name)
	}
	if want := []string{"tau", "alpha", "pool", "rate", "mode", "flag", "every"}; !slices.Equal(names, want) || !reflect.DeepEqual(Of(all{}), Of(&all{})) {
		t.Errorf("parameters %v, want %v", names, want)
	}
	got, err := json.Marshal(Of(all{})[4])
	if want := `{"name":"mode","default":"one","choices":["one","two"],"doc":"a choice"}`; err != nil || string(got) != want {
		t.Errorf("as JSON %s (%v), want %s", got, err, want)
	}
}

// TestMistakes: a declaration that contradicts itself panics.
func TestMistakes(t *testing.T) {
	for want, declaration := range map[string]any{
		"not exported": struct {
			n float64 `param:"n" default:"1"`
		}{1},
		"two of this name": struct {
			A float64 `param:"n" default:"1"`
			B float64 `param:"n" default:"1"`
		}{},
		"has the type uint": struct {
			N uint `param:"n" default:"1"`
		}{},
		"not whole": struct {
			N int `param:"n" default:"1"`
		}{},
		"not one of": struct {
			S string `param:"s" default:"x" choices:"a,b"`
		}{},
		"want a number": struct {
			N float64 `param:"n"`
		}{},
		"out of range": struct {
			N float64 `param:"n" default:"2" range:"[0,1]"`
		}{},
		"not an interval": struct {
			N float64 `param:"n" default:"2" range:"0 to 1"`
		}{},
		"not a struct": 7,
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), want) {
					t.Errorf("recovered %v, want %q", r, want)
				}
			}()
			Of(declaration)
		}()
	}
}

func TestConvert(t *testing.T) {
	list := Of(all{})
	for _, c := range []struct {
		name       string
		value, got any
	}{
		{"tau", 10, "10"}, {"tau", int64(10), "10"}, {"tau", 0.5, "0.5"}, {"tau", "auto", "auto"}, {"tau", math.Inf(1), "+Inf"},
		{"alpha", 0, 0.0}, {"alpha", "0.5", 0.5}, {"pool", int64(3), 3.0}, {"pool", "inf", math.Inf(1)}, {"rate", -2.5, -2.5},
		{"mode", "two", "two"}, {"flag", "true", true}, {"flag", false, false}, {"every", int64(3), 3.0},
	} {
		p := list[slices.IndexFunc(list, func(p Param) bool { return p.Name == c.name })]
		if got, err := p.convert(c.value); err != nil || got != c.got {
			t.Errorf("%s = %T(%v): %v (%v), want %v", c.name, c.value, c.value, got, err, c.got)
		}
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"alpha", 1, "1 is out of range; want a number in [0, 1)"}, {"alpha", "NaN", "out of range"}, {"alpha", nil, "want a number"}, {"alpha", true, "want a number"},
		{"pool", 0, "out of range"}, {"pool", 1.5, "whole"}, {"rate", 0, "out of range"}, {"rate", math.Inf(1), "finite"}, {"rate", "much", "want a number"},
		{"mode", "three", "one, two"}, {"mode", 7, "one, two"}, {"flag", 2, "true or false"}, {"flag", "maybe", "maybe"}, {"tau", "", "empty"}, {"every", 10, "out of range"}, {"every", 2.5, "whole"},
	} {
		for _, err := range []error{second(With(all{}, map[string]any{c.name: c.value})), second(Resolve(list, map[string]any{c.name: c.value}))} {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s = %v: error %v, want %q", c.name, c.value, err, c.want)
			}
		}
	}
	if _, err := Resolve(list, map[string]any{"aplha": 1}); err == nil {
		t.Errorf("a mistyped name: error %v", err)
	}
	if values, err := Resolve(list, map[string]any{"alpha": "0"}); err != nil || values["alpha"] != 0.0 || values["pool"] != 10.0 {
		t.Errorf("resolved %v (%v)", values, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestWithAndFilled change a copy, by value or by pointer, and leave the given struct as it is.
func TestWithAndFilled(t *testing.T) {
	given := all{Pool: 4, Own: 9, state: []int{1}}
	d, err := With(given, map[string]any{"alpha": "0", "tau": 2, "flag": true})
	if err != nil || *d.Alpha != 0 || d.Tau != "2" || !d.Flag || d.Pool != 4 || d.Mode != "" || given.Alpha != nil {
		t.Errorf("changed %+v (%v)", d, err)
	}
	f, err := Filled(d)
	if err != nil || *f.Alpha != 0 || f.Pool != 4 || f.Mode != "one" || f.Rate != 2 || f.Every != 1 || d.Mode != "" || f.Own != 9 || len(f.state) != 1 {
		t.Errorf("filled %+v (%v)", f, err)
	}
	pointer, err := Filled(&given)
	if err != nil || pointer == &given || pointer.Tau != "5" || given.Tau != nil {
		t.Errorf("filled %+v (%v) of %+v", pointer, err, given)
	}
	var hidden any = given
	if kept, err := Filled(hidden); err != nil || kept.(all).Rate != 2 {
		t.Errorf("in an interface %+v (%v)", kept, err)
	}
	for _, bad := range []all{{Alpha: new(-0.5)}, {Pool: 0.5}, {Mode: "three"}, {Rate: math.NaN()}} {
		if _, err := Filled(bad); err == nil {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
}
