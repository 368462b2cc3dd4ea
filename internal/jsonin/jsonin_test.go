package jsonin

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/expect"
)

type inputs struct {
	Jacobian [][]float64     `json:"jacobian"`
	Losses   []float64       `json:"losses"`
	IDs      []int           `json:"ids"`
	Seed     uint64          `json:"seed"`
	Name     string          `json:"name"`
	Norms    map[int]float64 `json:"norms"`
	Data     []byte          `json:"data"`
	Tasks    []struct {
		Classes []int `json:"classes"`
	} `json:"tasks"`
}

// TestRefused: an error has no names of Go's types.
func TestRefused(t *testing.T) {
	for _, text := range []string{
		`{"jacobian":[[null],[1]]}`, `{"jacobian":[null,[1]]}`, `{"jacobian":[[1,"x"]]}`, `{"jacobian":[[1,1e999]]}`,
		`{"jacobian":[[1,NaN]]}`,
		`{"losses":{}}`, `{"ids":[1,2.5]}`, `{"ids":[99999999999999999999]}`, `{"seed":-1}`, `{"data":5}`,
		`{"norms":{"a":1}}`,
		`{"tasks":[{"classes":[1]},{"classes":[1,null]}]}`, `{"jacobain":[[1]]}`, `{"tasks":[{"class":5}]}`, `[1]`,
		`{"seed":1,"name":"{","seed":2}`, `{"name":"\\\"","tasks":[{"classes":[1],"classes":[]}]}`,
		`{"se\u0065d":1,"seed":2}`, `{"norms":{"1":1,"2":2,"1":3}}`,
		`{"losses":[1,`, `{"losses":[1,,2]}`, `{losses:[1]}`, `nonsense`, ``, " ", `{} {}`, `{}x`,
		strings.Repeat(`[`, 1_000_000),
	} {
		t.Run(text, func(t *testing.T) {
			err := Unmarshal([]byte(text), new(inputs))
			switch {
			case err == nil:
				t.Errorf("%.40s: no error", text)
			case strings.Contains(err.Error(), "Go "):
				t.Errorf("%.40s: err.Error() is %q; want no %q in it", text, err.Error(), "Go ")
			case strings.Contains(err.Error(), "inputs"):
				t.Errorf("%.40s: err.Error() is %q; want no %q in it", text, err.Error(), "inputs")
			case strings.Contains(err.Error(), "float64"):
				t.Errorf("%.40s: err.Error() is %q; want no %q in it", text, err.Error(), "float64")
			}
		})
	}
}

// TestOneMeaning: a text that readers may take in two ways is refused, by a message that names the
// place as its author wrote it.
func TestOneMeaning(t *testing.T) {
	for text, want := range map[string]string{
		`{"Seed":1}`:                       `the key "Seed" is not known here`,
		`{"seed":1,"SEED":2}`:              `the key "SEED" is not known here`,
		`{"tasks":[{"Classes":[1]}]}`:      `the key "Classes" is not known here`,
		`{"tas\u212as":[]}`:                "the key \"tas\u212as\" is not known here", // the sign of kelvin folds to k
		`{"seed":1,"seed":1}`:              `the key "seed" is there twice`,
		`{"norms":{"1":1,"1":3}}`:          `the key "1" is there twice`,
		"{\"name\":\"caf\xe9\"}":           `"name": this is not UTF-8, at byte 12`,
		`{"name":"\ud800"}`:                `"name": this is not UTF-8, at byte 9`,
		`{"name":"\udc00\ud800"}`:          `"name": this is not UTF-8, at byte 9`,
		"{\"na\xe9\":1}":                   `the document: this is not UTF-8, at byte 4`,
		`{"ids":[1,1.0]}`:                  `"ids.1": 1.0 does not belong there; want a whole number`,
		`{"seed":-1}`:                      `"seed": -1 does not belong there; want a whole number of 0 or more`,
		`{"jacobian":[[1,1e999]]}`:         `"jacobian.0.1": 1e999 does not belong there; want a number up to ±1.8e308`,
		`{"jacobian":[[1],null]}`:          `"jacobian.1": null is not an entry of a list`,
		`{"tasks":[{"classes":[1,null]}]}`: `"tasks.0.classes.1": null is not an entry of a list`,
		`{} {}`:                            `after the end of the JSON text there is more, at byte 3`,
		"\n":                               `there is no JSON in it`,
	} {
		t.Run(text, func(t *testing.T) {
			if err := Unmarshal([]byte(text), new(inputs)); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", expect.Text(err), want)
			}
		})
	}
}

// TestBounded: a message is short, however long the text is that it speaks of.
func TestBounded(t *testing.T) {
	long := strings.Repeat("1", 100_000)
	for _, text := range []string{
		`{"seed":` + long + `}`, `{"` + long + `":1}`, `{"seed":"` + long + `"}`, `{"norms":{"` + long + `":[]}}`,
		`{"ids":[` + long + `.0]}`, `{}` + long, long,
		`{"norms":{"a":1,"` + strings.Repeat("ä", 50_000) + `":1}}`, `{"data":"` + long + `!"}`,
		`{"name":"\ud8` + long + `"}`,
	} {
		t.Run(text, func(t *testing.T) {
			switch err := Unmarshal([]byte(text), new(inputs)); {
			case err == nil:
				t.Errorf("%.30s…: no error", text)
			case len(err.Error()) > most+3:
				t.Errorf("%.30s…: len(err.Error()) is %d; want at most %d", text, len(err.Error()), most+3)
			case !utf8.ValidString(err.Error()):
				t.Errorf("%.30s…: %.500v", text, err)
			}
		})
	}
}

// TestNewer: keys that a later release may have written are left alone, but no key stands for
// another one.
func TestNewer(t *testing.T) {
	got := inputs{}
	switch err := UnmarshalNewer([]byte(`{"seed":1,"Seed":2,"later":{"a":[1,null]}}`), &got); {
	case err != nil:
		t.Error(err)
	case got.Seed != 1:
		t.Errorf("got.Seed is %d; want 1", got.Seed)
	}
	for _, text := range []string{`{"later":{"a":1,"a":2}}`, "{\"later\":\"\xe9\"}", `{"seed":"a"}`} {
		t.Run(text, func(t *testing.T) {
			if UnmarshalNewer([]byte(text), &got) == nil {
				t.Errorf("%s was read", text)
			}
		})
	}
}

func TestRead(t *testing.T) {
	text := "\ufeff" +
		` {"jacobian":[[1,-2.5e-3],[5e-324,1.7e308]],"ids":[-1,2],"seed":18446744073709551615,"name":"[null,\",\"name\":\"",` +
		`"norms":null,"data":"bnVsbA==","tasks":[{"classes":[3]},{"classes":[4]}]}`
	var got inputs
	if err := Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := inputs{Jacobian: [][]float64{{1, -2.5e-3}, {5e-324, 1.7e308}}, IDs: []int{-1, 2}, Seed: 1<<64 - 1,
		Name: `[null,","name":"`, Data: []byte("null")}
	want.Tasks = append(want.Tasks, struct {
		Classes []int `json:"classes"`
	}{[]int{3}}, struct {
		Classes []int `json:"classes"`
	}{[]int{4}})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// FuzzUnmarshal: whatever the text is, there is no panic, and an error says something.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{`{"jacobian":[[null],[1]]}`, `{"losses":[1,NaN]}`, `{"tasks":[{"classes":[1]}]}`, `[[[`,
		`{"a":{"b":[`, "", `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v inputs
		if err := Unmarshal(text, &v); err != nil && (strings.TrimSpace(err.Error()) == "" || len(err.Error()) > most+3) {
			t.Errorf("error %q says nothing, or too much", err)
		}
	})
}
