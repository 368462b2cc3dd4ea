package cell

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// rooted is a notebook that finds the source of the standard library, in which cells have run.
func rooted(t *testing.T, cells ...string) *Notebook {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	nb := notebook(t)
	nb.root = strings.TrimSpace(string(out))
	for i, code := range cells {
		c, err := nb.Translate(Read("In["+string(rune('1'+i))+"]", code))
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		nb.Commit(c)
	}
	return nb
}

// The bar stands for the cursor. What is found has all of the texts, which slashes divide; nothing
// is found for none.
func TestInspect(t *testing.T) {
	nb := rooted(t,
		"// Shape has an area.\ntype Shape interface{ Area() float64 }\n\n// Square is a shape.\n// It has equal sides.\ntype Square struct {\n\t// Side is its length.\n\tSide float64\n\tname string // of it\n}\n\n"+
			"// Area is the side times itself.\nfunc (s Square) Area() float64 { return s.Side * s.Side }\n\n// Grown is larger.\nfunc (s *Square) Grown(by float64, times int) *Square { return s }",
		"// sq is the first one.\nsq := Square{Side: 2}\ncount := 3 // how many\n/* limit is the most. */\nconst limit = 7\nvar (\n\t// low is the least.\n\tlow int\n\thigh = 9 // the most\n)",
		"// twice doubles.\nfunc twice(n int) int { return 2 * n }\n// Map maps.\nfunc Map[T, U any](list []T, f func(T) U) []U { return nil }\nvar old = 1",
		"// twice doubles again.\nfunc twice(n int) int { return n + n }")
	for _, c := range [][2]string{
		{"twi|ce(3)", "func twice(n int) int/doubles again"},
		{"twice(|", "func twice(n int) int/doubles again"},
		{"twice(|)", "func twice(n int) int"},
		{"fmt.Println(twice(1 + |", "func twice(n int) int"},
		{"fmt.Println(twice(1), |)", "func fmt.Println(a ...any)/Println formats"},
		{"fmt.Fprintf(os.Stdout, |", "func fmt.Fprintf/argument 2: format string"},
		{"fmt.Fprintf(os.Stdout, \"a %d\", 1, |2)", "argument 3: a []any"},
		{"fmt.Fprintf(os.Stdout, \"a |", "argument 2: format string"},
		{"if x := 1; x > 0 {\n\tfmt.Printf(\"|\")\n}", "func fmt.Printf(format string, a ...any)"},
		{"sq.Grown(1, |", "func (*Square) Grown(by float64, times int) *Square/Grown is larger/argument 2: times int"},
		{"sq.Grown(1, 2).Gr|own(", "Grown is larger"},
		{"sq.Grown(1, 2).Grown(|", "Grown is larger"},
		{"sq.Si|de", "field Side float64/Side is its length"},
		{"sq.na|me", "of it"},
		{"sq.Ar|ea()", "times itself"},
		{"s|q.Area()", "var sq Square/=sq"},
		{"cou|nt + 1", "var count int/=count"},
		{"lo|w", "low is the least/=low"},
		{"hig|h", "var high int/the most"},
		{"lim|it", "const limit untyped int = 7/limit is the most"},
		{"var s Squ|are",
			"type Square struct {\n\t// Side is its length.\n\tSide float64/name string/It has equal sides"},
		{"var s Sha|pe", "type Shape interface{ Area() float64 }/has an area"},
		{"[]Square{{Si|de: 1}}", "field Side float64"},
		{"Map([]int{1, |", "func Map"},
		{"Map([]int{1}, |", "func Map[T, U any]/Map maps/argument 2: f func(T) U"},
		{"Map[int, int](|", "Map maps"},
		{"fm|t.Println()", "package fmt // import \"fmt\"/formatted I/O"},
		{"import \"math/ra|nd/v2\"", "package rand // import \"math/rand/v2\"/Package rand implements"},
		{"import \"fmt|\"\nx := 1", "package fmt"},
		{"var f os.Fi|le", "type File struct/represents an open file"},
		{"len(|", "func len(v Type) int/The len built-in"},
		{"app|end(", "func append"},
		{"make([]int, |", "func make/argument"},
		{"var e err|or", "type error interface/The error built-in"},
		{"os.O_RDW|R", "const os.O_RDWR int = 2"},
		{"func local(n int) {\n\t// k is new.\n\tk := n\n\tfmt.Print(k|)\n}", "var k int/func fmt.Print"},
		{"func local(n int) {\n\tfmt.Print(n|)\n}", "var n int"},
		{"// This is new.\nfunc later() {}\nlat|er()", "func later()/This is new"},
		{"lat|er()\nfunc later() {}", "func later()"},
		{"x := func(a, b int) {}\nx(1, |", "var x func(a int, b int)/argument 2: b int"},
		{"func() (func(k string)) { return nil }()(|", "func(k string)"},
		{"mus|t(1, nil)", "func must/Must returns v"},
		{"c|tx.Done()", "var ctx context.Context"},
		{"fmt.Println(func() {\n\tx := 1\n\t|\n}", ""},
		{"// fmt.Pri|nt", ""}, {"x := 1 |", ""}, {"nothing|", ""}, {"|", ""}, {"f(|", ""}, {"%%bash\nfo|r", ""},
		{"if sq.Side > |", ""},
		{"x := 4\nx|", "var x int"},
		{"old, neu := old|, 2", "var old int/=old"},
		{"switch v := any(sq).(type) {\ncase Square:\n\t_ = v.Si|de\n}", "Side is its length"},
		{"x := 5 % tw|ice(3)", "doubles again"},
		{"func (s Square) Twi|ce() {}", "Twice"},
		{"fo|r i := range 3 {}", ""}, {"f(`a\n|`, twice(", ""}, {"fmt.Print(\"a\nb|", "func fmt.Print"},
		{"\"é\" + fmt.Sprint(tw|ice(1))", "doubles again"},
	} {
		t.Run(c[0], func(t *testing.T) {
			before, after, _ := strings.Cut(c[0], "|")
			var all string
			for _, d := range nb.Inspect(before+after, len(before)) {
				all += d.Declaration + "\n" + d.Doc + "\n"
				if d.Variable != "" {
					all += "=" + d.Variable + "\n"
				}
			}
			if c[1] == "" && all != "" {
				t.Errorf("it says %q", all)
			}
			for _, want := range strings.Split(c[1], "/") {
				if !strings.Contains(all, want) {
					t.Errorf("it says %q; want %q in it", all, want)
				}
			}
		})
	}
}

// What is declared again is described as it is now.
func TestInspectDeclaredAgain(t *testing.T) {
	nb := rooted(t, "// T is old.\ntype T struct{ A int }\n// F is old.\nfunc F() {}\nv := 1",
		"// T is new.\ntype T struct{ B int }\n// F is new.\nfunc F() {}\nv := 2")
	for code, want := range map[string]string{"T{}": "T is new", "F()": "F is new",
		"T{B: 1}": "type T struct{ B int }"} {
		t.Run(code, func(t *testing.T) {
			list := nb.Inspect(code, 1)
			if len(list) == 0 || !strings.Contains(list[0].Declaration+list[0].Doc, want) {
				t.Errorf("%v; want %q", list, want)
			}
		})
	}
}

func TestProposals(t *testing.T) {
	nb := rooted(t, "type Square struct {\n\tSide float64\n\tname string\n}\nsq := Square{}")
	nb.Others = func() []Package {
		return []Package{{Path: "example.org/z/plot", Name: "plot"}, {Path: "fmt", Name: "fmt"}}
	}
	for _, c := range [][2]string{
		{"fo", "for"}, {"x := 1\nswi", "switch"}, {"if true {\n\tretu", "return"}, {"switch 1 {\nca", "case"},
		{"for i := ra", "range"}, {"type T str", "struct"}, {"[]fu", "func"}, {"imp", "import"}, {"s := \"open\nfo", "for"},
		{"import \"f", "fmt"}, {"import \"math/", "math/rand"}, {"import (\n\t\"os\"\n\tr \"math/rand", "math/rand/v2"},
		{"import \"plo", "example.org/z/plot"},
		{"Square{Si", "Side"}, {"[]Square{{na", "name"}, {"&Square{Side: 1, na", "name"},
		{"Square{\n\tSide: 1,\n\tna", "name"},
		{"map[string]Square{\"a\": {Si", "Side"}, {"f := func() { sq.", "Side"},
		{"fmt.fo", "-for"}, {"\"fo", "-for"}, {"// fo", "-for"}, {"import \"os\"\nx := \"f", "-fmt"},
		{"Square{Side: 1, ", "-Side"},
	} {
		t.Run(c[0], func(t *testing.T) {
			_, list := nb.Complete(c[0], len(c[0]))
			want, not := strings.CutPrefix(c[1], "-")
			if slices.ContainsFunc(list, func(p Proposal) bool { return p.Text == want }) == not {
				t.Errorf("%v; want %s", list, c[1])
			}
		})
	}
}

// No text makes the inspector or the completer panic: cells of the notebooks, and broken ones.
func TestEverywhere(t *testing.T) {
	files, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var book struct {
				Cells []struct {
					Type   string `json:"cell_type"`
					Source []string
				}
			}
			if err := json.Unmarshal(data, &book); err != nil {
				t.Fatal(err)
			}
			nb := rooted(t)
			for i, one := range book.Cells {
				code := strings.Join(one.Source, "")
				if one.Type != "code" {
					continue
				}
				for range tries {
					broken := code
					for range r.IntN(3) {
						broken = damage(r, broken)
					}
					at := r.IntN(len(broken) + 1)
					for ; at > 0 && at < len(broken) && !utf8.RuneStart(broken[at]); at-- {
					}
					nb.Inspect(broken, at)
					nb.Complete(broken, at)
				}
				if c, err := nb.Translate(Read(fmt.Sprintf("In[%d]", i+1), code)); err == nil {
					nb.Commit(c)
				}
			}
		})
	}
}

// tries is how many places of each cell the test looks at.
const tries = 12

// damage takes something out of a text, repeats it, or puts something else in.
func damage(r *rand.Rand, text string) string {
	if text == "" {
		return "("
	}
	a := r.IntN(len(text))
	b := min(len(text), a+1+r.IntN(12))
	odd := []string{"(", ")", "{", "}", "[", "]", "\"", "`", "'", ".", ",", ";", ":=", "type T = ", "type A B\ntype B A\n",
		"/*", "//", "\n%", "!", "é",
		"func (", "case ", "import \"", "...", "\x00", "[T any]", "ʇʇ", "package main\n"}
	switch r.IntN(3) {
	case 0:
		return text[:a] + text[b:]
	case 1:
		return text[:b] + text[a:]
	}
	return text[:a] + odd[r.IntN(len(odd))] + text[a:]
}
