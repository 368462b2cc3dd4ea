package jsonin

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

type inputs struct {
	Jacobian [][]float64     `json:"jacobian"`
	Losses   []float64       `json:"losses"`
	IDs      []int           `json:"ids"`
	Seed     uint64          `json:"seed"`
	Name     string          `json:"name"`
	On       bool            `json:"on"`
	Norms    map[int]float64 `json:"norms"`
	Data     []byte          `json:"data"`
	Tasks    []struct {
		Classes []int `json:"classes"`
	} `json:"tasks"`
	hidden int
	Nested struct {
		Rate float64 `json:"rate"`
	} `json:"nested"`
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"jacobian":[[null],[1]]}`:         "jacobian row 1, entry 1: null is not a number",
		`{"jacobian":[[1,2],[1,"x"]]}`:      `jacobian row 2, entry 2: the text "x" is not a number`,
		`{"jacobian":[null,[1]]}`:           "jacobian row 1: null is not a list in brackets",
		`{"jacobian":null}`:                 "jacobian: null is not a list in brackets",
		`{"jacobian":[[1,1e999]]}`:          "jacobian row 1, entry 2: 1e999 is not a number up to 1.8e+308",
		`{"jacobian":[[1,NaN]]}`:            "jacobian row 1, entry 2: NaN is not a number that JSON has; leave such streams out",
		`{"jacobian":[[1],[-Infinity, 2]]}`: "jacobian row 2, entry 1: -Infinity is not a number that JSON has; leave such streams out",
		`{"losses":NaN}`:                    "losses: NaN is not a number that JSON has; leave such streams out",
		`{"losses":[1,true]}`:               "losses entry 2: true is not a number",
		`{"losses":[[1]]}`:                  "losses entry 1: a list is not a number",
		`{"losses":{}}`:                     "losses: an object is not a list in brackets",
		`{"ids":[1,2.5]}`:                   "ids entry 2: 2.5 is not a whole number, written without point and exponent, below 2^63",
		`{"ids":[1,1e30]}`:                  "ids entry 2: 1e30 is not a whole number, written without point and exponent, below 2^63",
		`{"ids":[99999999999999999999]}`:    "ids entry 1: 99999999999999999999 is not a whole number, written without point and exponent, below 2^63",
		`{"seed":-1}`:                       "seed: -1 is not a whole number of 0 or more, written without point and exponent, below 2^64",
		`{"name":null}`:                     "name: null is not a text in quotes",
		`{"on":1}`:                          "on: 1 is not true or false",
		`{"data":5}`:                        "data: 5 is not a text in quotes",
		`{"norms":{"1":null}}`:              "norms, 1: null is not a number",
		`{"norms":{"a":1}}`:                 `norms: the key "a" is not a whole number`,
		`{"nested":{"rate":null}}`:          "nested, rate: null is not a number",
		`{"Seed":2}`:                        `unknown key "Seed"; known are jacobian, losses, ids, seed, name, on, norms, data, tasks, nested`,
		`{"norms":{"1":1,"01":2}}`:          `norms: the key "01" is not a whole number`,
		`{"nested":5}`:                      "nested: 5 is not an object in braces",
		`{"tasks":[{"classes":[1]},{"classes":[1,null]}]}`: "tasks entry 2, classes entry 2: null is not a whole number",
		`{"jacobain":[[1]]}`:             `unknown key "jacobain"; known are jacobian, losses, ids, seed, name, on, norms, data, tasks, nested`,
		`{"nested":{"rat":5}}`:           `nested: unknown key "rat"; known are rate`,
		`{"hidden":5}`:                   `unknown key "hidden"`,
		`{"seed":1,"name":"{","seed":2}`: `the key "seed" is there twice`,
		`{"name":"\\\"","tasks":[{"classes":[1],"classes":[]}]}`: `the key "classes" is there twice`,
		`{"se\u0065d":1,"seed":2}`:                               `the key "seed" is there twice`,
		`{"norms":{"1":1,"2":2,"1":3}}`:                          `the key "1" is there twice`,
		`null`:                                                   "null is not an object in braces",
		`[1]`:                                                    "a list is not an object in braces",
		`{"losses":[1,`:                                          "the JSON text ends in the middle of a value",
		`{"losses":[1,,2]}`:                                      "losses entry 2: this is not JSON: invalid character ','",
		`{losses:[1]}`:                                           "this is not JSON: invalid character 'l'",
		`nonsense`:                                               "this is not JSON: invalid character 'o'",
		``:                                                       "there is no JSON in it",
		`{} {}`:                                                  "there is more: {}",
	} {
		var v inputs
		err := Unmarshal([]byte(text), &v)
		if err == nil || !strings.HasPrefix(err.Error(), want) && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
			continue
		}
		if strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "inputs") || strings.Contains(err.Error(), "float64") {
			t.Errorf("%s: %v speaks of Go's types", text, err)
		}
	}
}

func TestGood(t *testing.T) {
	var v inputs
	text := `{"jacobian":[[1,-2.5e-3],[5e-324,1.7e308]],"ids":[-1,2],"seed":18446744073709551615,"name":"null","on":true,` +
		`"norms":null,"data":"bnVsbA==","tasks":[{"classes":[3]}],"nested":{"rate":0}}`
	if err := Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(v.Jacobian, [][]float64{{1, -2.5e-3}, {5e-324, 1.7e308}}) || v.Name != "null" || string(v.Data) != "null" || v.hidden != 0 {
		t.Errorf("%+v", v)
	}
}

type base struct {
	Anchor []byte `json:"anchor"`
}

// TestNullInText: the letters of null in a text, such as bytes in base64, are none, and the fields of an embedded struct are
// known where a null is.
func TestNullInText(t *testing.T) {
	var v struct {
		base
		Path []byte         `json:"path"`
		Name string         `json:"name"`
		Map  map[string]int `json:"map"`
	}
	for _, text := range []string{
		`{"anchor":"null","path":"AAAA","name":"\"null\\"}`, `{"anchor":"AAAA","map":null}`,
	} {
		if err := Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := Unmarshal([]byte(`{"anchor":"AAAA","other":null}`), &v); err == nil {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestStream(t *testing.T) {
	d := NewDecoder([]byte("\ufeff {\"ids\":[1]}\n{\"ids\":[2]} {\"ids\":[null]} "))
	for want := 1; want <= 2; want++ {
		var v inputs
		if err := d.Decode(&v); err != nil || v.IDs[0] != want {
			t.Fatalf("%v (%v), want %d", v.IDs, err, want)
		}
	}
	var v inputs
	if err := d.Decode(&v); err == nil || !strings.HasPrefix(err.Error(), "ids entry 1: null is not a whole number") {
		t.Errorf("error %v", err)
	}
	if err := NewDecoder([]byte(" \n")).Decode(&v); err != io.EOF {
		t.Errorf("error %v at the end", err)
	}
	if err := Unmarshal([]byte("\ufeff{\"ids\":[3]}"), &v); err != nil || v.IDs[0] != 3 {
		t.Errorf("after a byte order mark: %v (%v)", v.IDs, err)
	}
}

// FuzzUnmarshal: whatever the text is, there is no panic, and what is read without an error holds what
// encoding/json would have read.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{`{"jacobian":[[null],[1]]}`, `{"losses":[1,NaN]}`, `{"tasks":[{"classes":[1]}]}`, `[[[`, `{"a":{"b":[`, "", `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v inputs
		if err := Unmarshal(text, &v); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("error %q says nothing", err)
		}
	})
}

// TestRepeatedElsewhere: the same key in different objects, and as a value, is no repetition.
func TestRepeatedElsewhere(t *testing.T) {
	for _, text := range []string{
		`{"tasks":[{"classes":[1]},{"classes":[2]}],"nested":{"rate":1},"name":"name"}`, `{"name":"\",\"name\":\"","norms":{},"ids":[]}`,
	} {
		if err := Unmarshal([]byte(text), new(inputs)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
