package jsonin

import (
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
	Norms    map[int]float64 `json:"norms"`
	Data     []byte          `json:"data"`
	Tasks    []struct {
		Classes []int `json:"classes"`
	} `json:"tasks"`
}

// TestRefused: an error has no names of Go's types.
func TestRefused(t *testing.T) {
	for _, text := range []string{
		`{"jacobian":[[null],[1]]}`, `{"jacobian":[null,[1]]}`, `{"jacobian":[[1,"x"]]}`, `{"jacobian":[[1,1e999]]}`, `{"jacobian":[[1,NaN]]}`,
		`{"losses":{}}`, `{"ids":[1,2.5]}`, `{"ids":[99999999999999999999]}`, `{"seed":-1}`, `{"data":5}`, `{"norms":{"a":1}}`,
		`{"tasks":[{"classes":[1]},{"classes":[1,null]}]}`, `{"jacobain":[[1]]}`, `{"tasks":[{"class":5}]}`, `[1]`,
		`{"seed":1,"name":"{","seed":2}`, `{"name":"\\\"","tasks":[{"classes":[1],"classes":[]}]}`, `{"se\u0065d":1,"seed":2}`, `{"norms":{"1":1,"2":2,"1":3}}`,
		`{"losses":[1,`, `{"losses":[1,,2]}`, `{losses:[1]}`, `nonsense`, ``, " ", `{} {}`, `{}x`, strings.Repeat(`[`, 1_000_000),
	} {
		err := Unmarshal([]byte(text), new(inputs))
		if err == nil || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "inputs") || strings.Contains(err.Error(), "float64") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestRead(t *testing.T) {
	text := "\ufeff" + ` {"jacobian":[[1,-2.5e-3],[5e-324,1.7e308]],"ids":[-1,2],"seed":18446744073709551615,"name":"[null,\",\"name\":\"",` +
		`"norms":null,"data":"bnVsbA==","tasks":[{"classes":[3]},{"classes":[4]}]}`
	var got inputs
	if err := Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := inputs{Jacobian: [][]float64{{1, -2.5e-3}, {5e-324, 1.7e308}}, IDs: []int{-1, 2}, Seed: 1<<64 - 1, Name: `[null,","name":"`, Data: []byte("null")}
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
