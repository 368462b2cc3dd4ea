package viz

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// TestColumns: a table's columns are written in the form that takes the fewest bytes, and that is
// read again.
func TestColumns(t *testing.T) {
	for name, c := range map[string]struct {
		heads []string
		rows  [][]any
		want  string
	}{
		"no column": {nil, nil, `[]`},
		"no row":    {[]string{"a"}, nil, `[["a",0]]`},
		"a number follows that of the same texts, which a line break does not make the same": {
			[]string{"a", "b", "n"},
			[][]any{{"x\ny", "z", 5}, {"x", "y\nz", 7}, {"x\ny", "z", 8}},
			`[["a",-2,"x\ny","x","x\ny"],["b",-2,"z","y\nz","z"],["n",0,5,7,3]]`,
		},
		"a text that repeats":   {[]string{"a"}, [][]any{{"x"}, {"x"}, {"y"}}, `[["a",-2,"x",0,"y"]]`},
		"the text 0":            {[]string{"a"}, [][]any{{"x"}, {"0"}}, `[["a",-2,"x","0"]]`},
		"decimals":              {[]string{"a"}, [][]any{{0.25}, {0.5}, {-1.0}}, `[["a",2,25,25,-150]]`},
		"no value":              {[]string{"a"}, [][]any{{1.5}, {nil}, {math.NaN()}, {2.5}}, `[["a",1,15,null,null,10]]`},
		"numbers of many sizes": {[]string{"a"}, [][]any{{1e-30}, {3.5}}, `[["a",-1,1e-30,3.5]]`},
		"a number as a text":    {[]string{"a"}, [][]any{{"1"}, {"x"}}, `[["a",-2,"1","x"]]`},
		"a number of another":   {[]string{"a"}, [][]any{{"007"}, {1}}, `[["a",-2,"007","1"]]`},
		"what looks like one":   {[]string{"a"}, [][]any{{"Inf"}, {"NaN"}}, `[["a",-2,"Inf","NaN"]]`},
		"a formula":             {[]string{"=a"}, [][]any{{"=cmd()"}}, `[["=a",-2,"=cmd()"]]`},
	} {
		t.Run(name, func(t *testing.T) {
			table := Table{Head: c.heads, Rows: c.rows}
			got, err := json.Marshal(columnsOf(table.Head, table.texts(4)))
			if err != nil || string(got) != c.want {
				t.Fatalf("the columns are %s with error %v, want %s", got, expect.Text(err), c.want)
			}
			var back []dataColumn
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if again, err := json.Marshal(back); err != nil || string(again) != c.want {
				t.Errorf("read again they are %s with error %v, want %s", again, expect.Text(err), c.want)
			}
		})
	}
}

// TestForeignColumns: a column that the page's script could not read is refused.
func TestForeignColumns(t *testing.T) {
	for name, text := range map[string]string{
		"no list":                  `{"a":1}`,
		"no kind":                  `["a"]`,
		"a head that is no text":   `[1,0]`,
		"a kind that is no number": `["a","0"]`,
		"half a kind":              `["a",0.5]`,
		"an unknown kind":          `["a",-3,1]`,
		"too many decimals":        `["a",10,1]`,
		"a text among numbers":     `["a",0,1,"<script>"]`,
		"a number among texts":     `["a",-2,"x",1]`,
		"a repetition of nothing":  `["a",-2,0]`,
		"nothing among texts":      `["a",-2,null]`,
		"a list as a cell":         `["a",0,[1]]`,
		"truth as a cell":          `["a",-2,true]`,
		"a number out of range":    `["a",0,1e999]`,
	} {
		t.Run(name, func(t *testing.T) {
			var c dataColumn
			expect.Refusal(t, "Unmarshal", json.Unmarshal([]byte(text), &c), "column")
		})
	}
}

// TestPaths: of a path nothing but what this package writes is read.
func TestPaths(t *testing.T) {
	for text, good := range map[string]bool{
		"":                             true,
		"M1 2":                         true,
		"M-1-2l3 4 5-6h7v-8Zm1 1":      true,
		"M0 0c1 2 3 4 5 6-1-2-3-4-5-6": true,
		"M0 0q1 2 3 4":                 true,
		"l1 2":                         false,
		"M1":                           false,
		"M1 2 3 4":                     false,
		"M0 0l1":                       false,
		"M0 0l1 2 3":                   false,
		"M0 0c1 2 3 4 5":               false,
		"M0 0q1 2 3 4 5 6":             false,
		"M0 0L1 2":                     false,
		"M0 0l1.5 2":                   false,
		"M0 0l1e5 2":                   false,
		"M0 0l- 2":                     false,
		"M123456789 0":                 false,
		`M0 0"/><script>`:              false,
		"M0 0\n":                       false,
		"M0 0a1 1 0 0 0 1 1":           false,
	} {
		t.Run(text, func(t *testing.T) {
			var p svgPath
			if err := p.UnmarshalText([]byte(text)); (err == nil) != good {
				t.Errorf("the error is %v; want one: %t", expect.Text(err), !good)
			}
		})
	}
}
