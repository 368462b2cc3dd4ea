package params

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// level is a number or the word "high".
type level float64

func (l level) MarshalText() ([]byte, error) {
	if l == -1 {
		return []byte("high"), nil
	}
	return fmt.Append(nil, float64(l)), nil
}

func (l *level) UnmarshalText(text []byte) error {
	x, err := strconv.ParseFloat(string(text), 64)
	if string(text) == "high" {
		x, err = -1, nil
	} else if err != nil || !(x > 0) {
		return fmt.Errorf("%s is not a number above 0 or high", text)
	}
	*l = level(x)
	return nil
}

type all struct {
	Tau   level    `param:"tau" default:"5" doc:"a number or a word"`
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
	if want := []string{"tau", "alpha", "pool", "rate", "mode", "flag", "every"}; !slices.Equal(names, want) ||
		!reflect.DeepEqual(Of(all{}), Of(&all{})) {
		t.Errorf("parameters %v, want %v", names, want)
	}
	for i, want := range map[int]string{
		0: `{"name":"tau","default":"5","doc":"a number or a word"}`,
		4: `{"name":"mode","default":"one","choices":["one","two"],"doc":"a choice"}`,
		6: `{"name":"every","default":1,"doc":"a whole number"}`,
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if got, err := json.Marshal(Of(all{})[i]); err != nil || string(got) != want {
				t.Errorf("as JSON %s (%v), want %s", got, expect.Text(err), want)
			}
		})
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
		"has the type interface": struct {
			N any `param:"n" default:"1"`
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
		t.Run(want, func(t *testing.T) {
			func() {
				defer func() {
					if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), want) {
						t.Errorf("recovered %v, want %q", r, want)
					}
				}()
				Of(declaration)
			}()
		})
	}
}

// TestSet: values of Go, TOML, JSON and the command line become those of the field, and values that
// are not allowed errors that name the parameter.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		name       string
		value, got any
	}{
		{"tau", 10, "10"}, {"tau", int64(10), "10"}, {"tau", 0.5, "0.5"}, {"tau", "high", "high"},
		{"tau", math.Inf(1), "+Inf"}, {"tau", level(-1), "high"},
		{"alpha", 0, 0.0}, {"alpha", "0.5", 0.5}, {"pool", int64(3), 3.0}, {"pool", "inf", math.Inf(1)}, {"rate", -2.5, -2.5},
		{"mode", "two", "two"}, {"flag", "true", true}, {"flag", false, false}, {"every", int64(3), 3},
	} {
		t.Run(fmt.Sprintf("%s=%v", c.name, c.value), func(t *testing.T) {
			var d all
			if err := Set(&d, map[string]any{c.name: c.value}); err != nil || Values(d)[c.name] != c.got {
				t.Errorf("%v (%v), want %v", Values(d)[c.name], expect.Text(err), c.got)
			}
		})
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"alpha", 1, "1 is out of range; want a number of at least 0 and below 1"}, {"alpha", "NaN", "out of range"},
		{"alpha", nil, "want a number"}, {"alpha", true, "want a number"},
		{"pool", 0, "want a whole number of at least 1 or inf"}, {"pool", 1.5, "whole"}, {"rate", 0, "out of range"},
		{"rate", math.Inf(1), "finite"}, {"rate", "much", "want a number"},
		{"mode", "three", "one, two"}, {"mode", 7, "one, two"}, {"flag", 2, "true or false"}, {"flag", "maybe", "maybe"},
		{"flag", 1, "true or false"}, {"tau", "", "above 0 or high"}, {"tau", -1, "above 0 or high"}, {"tau", nil, "nil"},
		{"every", 10, "want a whole number from 1 to 9"}, {"every", 2.5, "whole"}, {"aplha", 1, "want one of tau, alpha"},
	} {
		t.Run(fmt.Sprintf("not %s=%v", c.name, c.value), func(t *testing.T) {
			for _, write := range []func(any, map[string]any) error{Set, Decode} {
				var d all
				err := write(&d, map[string]any{c.name: c.value})
				switch {
				case err == nil:
					t.Error("no error")
				case !strings.Contains(err.Error(), c.want), !strings.Contains(err.Error(), c.name):
					t.Errorf("error %v, want %q; the struct is %+v", err, c.want, d)
				case !reflect.DeepEqual(d, all{}):
					t.Errorf("d is %+v; want %+v", d, all{})
				}
			}
		})
	}
}

// TestFill: Set changes only what it is given, Decode and Fill also put defaults in place of zero
// values.
func TestFill(t *testing.T) {
	d := all{Pool: 4, Own: 9, state: []int{1}}
	err := Set(&d, map[string]any{"alpha": "0", "tau": 2, "flag": true})
	switch {
	case err != nil:
		t.Error(err)
	case *d.Alpha != 0:
		t.Errorf("*d.Alpha is %g; want 0", *d.Alpha)
	case d.Tau != 2:
		t.Errorf("d.Tau is %g; want 2", d.Tau)
	case !d.Flag:
		t.Error("d.Flag is false")
	case d.Pool != 4:
		t.Errorf("d.Pool is %g; want 4", d.Pool)
	case d.Mode != "":
		t.Errorf("d.Mode is %q; want %q", d.Mode, "")
	}
	decoded := d
	err = Decode(&decoded, map[string]any{"rate": 7})
	switch {
	case err != nil:
		t.Error(err)
	case decoded.Rate != 7:
		t.Errorf("decoded.Rate is %g; want 7", decoded.Rate)
	case decoded.Mode != "one":
		t.Errorf("decoded.Mode is %q; want %q", decoded.Mode, "one")
	case *decoded.Alpha != 0:
		t.Errorf("*decoded.Alpha is %g; want 0", *decoded.Alpha)
	}
	err = Fill(&d)
	switch {
	case err != nil:
		t.Error(err)
	case *d.Alpha != 0:
		t.Errorf("*d.Alpha is %g; want 0", *d.Alpha)
	case d.Pool != 4:
		t.Errorf("d.Pool is %g; want 4", d.Pool)
	case d.Mode != "one":
		t.Errorf("d.Mode is %q; want %q", d.Mode, "one")
	case d.Rate != 2:
		t.Errorf("d.Rate is %g; want 2", d.Rate)
	case d.Every != 1:
		t.Errorf("d.Every is %d; want 1", d.Every)
	case d.Own != 9:
		t.Errorf("d.Own is %d; want 9", d.Own)
	case len(d.state) != 1:
		t.Errorf("len(d.state) is %d; want 1", len(d.state))
	}
	for name, bad := range map[string]all{"alpha": {Alpha: new(-0.5)}, "pool": {Pool: 0.5}, "mode": {Mode: "three"},
		"rate": {Rate: math.NaN()}, "tau": {Tau: -2}} {
		t.Run(name, func(t *testing.T) {
			expect.Refusal(t, fmt.Sprintf("%+v", bad), Fill(&bad), name)
		})
	}
}

// TestBegin: only parameters whose zero means zero get their defaults.
func TestBegin(t *testing.T) {
	d := struct {
		LR   float64 `param:"lr,required" default:"0.5"`
		Mode string  `param:"mode" default:"one" choices:"one,two"`
	}{}
	switch FillRequired(&d); {
	case d.LR != 0.5:
		t.Errorf("d.LR is %g; want 0.5", d.LR)
	case d.Mode != "":
		t.Errorf("d.Mode is %q; want %q", d.Mode, "")
	}
}

// TestRanges checks the text of a range, and the values that it takes.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		text, says string
		in, out    []float64
	}{
		{"", "a finite number", []float64{-1e300}, []float64{math.NaN(), math.Inf(1)}},
		{"[0,1]", "a number from 0 to 1", []float64{0, 1}, []float64{-1e-9, 1.1}},
		{"[0,1)", "a number of at least 0 and below 1", []float64{0}, []float64{1}},
		{"(0,1]", "a number above 0 and at most 1", []float64{1}, []float64{0}},
		{"(0,inf]", "a number above 0 or inf", []float64{1, math.Inf(1)}, []float64{0}},
		{"(-inf,1e-9]", "a number of at most 1e-9", []float64{-5}, []float64{1}},
		{"[0,inf)", "a number of at least 0", []float64{7}, []float64{math.Inf(1)}},
		{"whole [1,1e6]", "a whole number from 1 to 1e6", []float64{1000000}, []float64{1.5}},
		{"[0,pi]", "a number from 0 to π", []float64{math.Pi}, []float64{3.15}},
		{"[0.001,2147483647]", "a number from 0.001 to 2147483647", nil, nil},
		{"float32 (0,inf)", "a number above 0 that float32 holds with all digits: 1.2e-38 to 3.4e38",
			[]float64{0x1p-126, math.MaxFloat32}, []float64{0, 1e-38, 3.5e38}},
		{"float32 [0,inf)", "a number of at least 0 that float32 holds: up to 3.4e38", []float64{0, 1e-40},
			[]float64{3.5e38, -1}},
	} {
		t.Run(c.text, func(t *testing.T) {
			i, err := parseInterval(c.text)
			if err != nil || i.String() != c.says {
				t.Errorf("it says %q (%v), want %q", i, expect.Text(err), c.says)
			}
			for _, x := range c.in {
				if err := CheckRange(x, c.text); err != nil {
					t.Errorf("%g: %v", x, err)
				}
			}
			for _, x := range c.out {
				if err := CheckRange(x, c.text); err == nil {
					t.Errorf("%g is in range", x)
				}
			}
		})
	}
}
