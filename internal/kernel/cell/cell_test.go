package cell

import (
	"go/scanner"
	"go/token"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

func TestRead(t *testing.T) {
	for code, want := range map[string][]string{
		"!ls\nx := 1":                           {"!ls"},
		"text := `a\n!ls\n%%\n`\n%env A b":      {"%env A b"},
		"/*\n!ls\n*/":                           nil,
		"if a &&\n!b {\n}":                      nil,
		"l := []bool{\n!a,\n!b}":                nil,
		"!echo it's `odd\n%cd \"x\nfmt.Print()": {"!echo it's `odd", "%cd \"x"},
		"!echo é":                               {"!echo é"},
		"!a \\\n  b\n!c":                        {"!a    b", "!c"},
		"//gonb:%%\nf()":                        {"%%"},
		"n := a\n% main":                        {"% main"},
		"x := 7 %\n3":                           nil,
	} {
		t.Run(code, func(t *testing.T) {
			s := Read("In[1]", code)
			var got []string
			for _, c := range s.Commands {
				got = append(got, c.Text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("commands %q, want %q", got, want)
			}
			if len(s.Go) != len(code) || strings.Count(s.Go, "\n") != strings.Count(code, "\n") {
				t.Errorf("the rest is %q", s.Go)
			}
		})
	}
	switch s := Read("", "%%bash -e\necho 1\n%%\n"); {
	case s.Magic != "%%bash -e":
		t.Errorf("s.Magic is %q; want %q", s.Magic, "%%bash -e")
	case s.Body != "echo 1\n%%\n":
		t.Errorf("s.Body is %q; want %q", s.Body, "echo 1\n%%\n")
	case s.Go != "":
		t.Errorf("s.Go is %q; want %q", s.Go, "")
	}
}

func TestComplete(t *testing.T) {
	for code, want := range map[string]string{
		"x := 1": "complete", "": "complete", "func f() {": "incomplete", "f(1,": "incomplete", "x := `a": "incomplete",
		"x :=":              "incomplete",
		"for {\n\tif a {\n": "incomplete", "x := = 2": "invalid", "}": "invalid", "!ls (": "complete",
		"%%bash\nif": "complete",
		"switch a := f(); b := a.(type) {\ncase int:\n\t_ = b\n}": "complete",
	} {
		t.Run(code, func(t *testing.T) {
			got, _ := Complete(code)
			if got != want {
				t.Errorf("%q is %s, want %s", code, got, want)
			}
		})
	}
}

// std are packages for the cells of tests.
var std = sync.OnceValues(func() (list []Package, err error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f",
		"{{if .Export}}{{.Name}} {{.ImportPath}} {{.Export}}{{end}}", "fmt", "os", "math/rand", "math/rand/v2",
		runtime).Output()
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		list = append(list, Package{Name: f[0], Path: f[1], Export: f[2]})
	}
	return list, err
})

func notebook(t *testing.T) *Notebook {
	t.Helper()
	list, err := std()
	if err != nil {
		t.Fatal(err)
	}
	return New(list, "")
}

// Mistakes are where the user sees them.
func TestMistakes(t *testing.T) {
	for code, want := range map[string]token.Position{
		"x := 1\nx := 2":                              {Line: 2, Column: 1},
		"fmt.Println(nothing)":                        {Line: 1, Column: 13},
		"x := \"é\" + nothing":                        {Line: 1, Column: 13},
		"func f() int {\n\treturn \"\"\n}\nf()":       {Line: 2, Column: 9},
		"type T struct {\n\ta nosuch\n}":              {Line: 2, Column: 4},
		"\nvar (\n\ta int\n\tb string = 1\n)":         {Line: 4, Column: 13},
		"fmt.Println(1); fmt.Println(2); nothing()":   {Line: 1, Column: 33},
		"if true {\n\tfmt.Println(\n":                 {Line: 2, Column: 14},
		"for i := range 3 {\n\tj := i\n}":             {Line: 2, Column: 2},
		"func f() int { return 1 }\nf, g := f(), 2":   {Line: 2, Column: 1},
		"type T struct{}\nT, y := 1, 2":               {Line: 2, Column: 1},
		"const k = 1\nx, k := 1, 2":                   {Line: 2, Column: 4},
		"func (t T) f() {}":                           {Line: 1, Column: 9},
		"import \"fmt\"\nimport (\n\t\"nosuch/x\"\n)": {Line: 3},
	} {
		t.Run(code, func(t *testing.T) {
			_, err := notebook(t).Translate(Read("In[7]", code))
			m, ok := err.(scanner.ErrorList)
			switch {
			case !ok:
				t.Error("ok is false")
			case m[0].Pos.Filename != "In[7]":
				t.Errorf("m[0].Pos.Filename is %q; want %q", m[0].Pos.Filename, "In[7]")
			case m[0].Pos.Line != want.Line:
				t.Errorf("m[0].Pos.Line is %d; want %d", m[0].Pos.Line, want.Line)
			case want.Column > 0 && m[0].Pos.Column != want.Column:
				t.Errorf("%v, want one at %d:%d", err, want.Line, want.Column)
			}
		})
	}
}

// Whoever asks as in IPython is told how to ask here.
func TestAskedAsInPython(t *testing.T) {
	for code, told := range map[string]bool{"?fmt.Println": true, "fmt.Println?": true, "x := 1\nx??": true,
		"x := 1 @ 2": false,
		"x := \"?":   false} {
		t.Run(code, func(t *testing.T) {
			_, err := notebook(t).Translate(Read("In[7]", code))
			if err == nil || strings.Contains(err.Error(), "Shift-Tab") != told {
				t.Errorf("%v; told about Shift-Tab: want %v", err, told)
			}
		})
	}
}

// Where a statement ends, and what its names mean.
func TestStatements(t *testing.T) {
	for _, cells := range [][]string{
		{"fmt.Println(1) /* a\nb */\nfmt.Println(2)"}, {"func f() int { return 1 } /* a\n!ls\nb */\nf()"},
		{"import \"os\" /* a\nb */\nos.Args"},
		{"x := 1 /* a\nb */ // c\ny := x"}, {"for i := 0; i < 3; i++ { print(i) }; print(1)\nfunc h() {}"},
		{"for range 3 {\n\tprint(1)\n};\nimport \"os\"\nos.Args"},
		{"if true {\n};\nx := 2\nfunc f() {}\nx"},
		{"if x := []int{1}; len(x) > 0 {\n} else if y := (struct{ a int }{}); y.a > 0 {\n}\nfunc f() {}"},
		{"switch a := any(1); b := a.(type) {\ncase int:\n\t_ = b\n}\nfunc f() {}"},
		{"if f := func() bool { return true }; f() {\n}"}, {"x := 1\nx;;"}, {";;x := 1\nx\n;"},
		{"rand := 1", "n := rand.Int()"}, {"errors := 1", "var e, f = errors.New(\"x\"), 3"}, {"a := 1", "a := a + 1"},
		{"a := 1", "a, b := a, a\na, c := b, a"},
		{"a := \"\"", "x := a * 2\nconst a = 7"},
	} {
		nb := notebook(t)
		for i, code := range cells {
			c, err := nb.Translate(Read("In["+strconv.Itoa(i+1)+"]", code))
			if err != nil {
				t.Errorf("%q: %v", cells, err)
				break
			}
			nb.Commit(c)
		}
	}
}

// A cell's origin depends on the cells that it uses, also through a name that it defines anew.
func TestOrigin(t *testing.T) {
	origins := map[string]string{}
	alike := []string{"x := 1\nfmt.Println(x)\nfmt.Println(2)", "x := 1\nfmt.Println(x)\nfmt.Println(2)\n\n",
		"x := 1; fmt.Println(x)\n\nfmt.Println(2);",
		"// one\nx := 1 // two\nfmt.Println(x) // three\n/* four */ fmt.Println(2) // five"}
	tests := [][]string{
		{"m := 1", "n := m"}, {"m := 2", "n := m"}, {"m := 1", "m := m + 1"}, {"m := 2", "m := m + 1"},
		{"m := 1", "other := 1", "n := m"},
	}
	for _, code := range alike {
		tests = append(tests, []string{code})
	}
	for _, cells := range tests {
		nb := notebook(t)
		var last string
		for _, code := range cells {
			c, err := nb.Translate(Read("In[1]", code))
			if err != nil {
				t.Fatal(err)
			}
			nb.Commit(c)
			last = c.origin
		}
		origins[strings.Join(cells, "; ")] = last
	}
	if origins["m := 1; n := m"] == origins["m := 2; n := m"] ||
		origins["m := 1; m := m + 1"] == origins["m := 2; m := m + 1"] {
		t.Errorf("what a cell uses does not count: %v", origins)
	}
	if origins["m := 1; n := m"] != origins["m := 1; other := 1; n := m"] {
		t.Errorf("what a cell does not use counts: %v", origins)
	}
	want := origins[alike[0]]
	for _, code := range alike {
		t.Run(code, func(t *testing.T) {
			if origins[code] != want {
				t.Errorf("what is between statements counts: %q", code)
			}
		})
	}
}

func variables(kind string, words ...string) (list []rt.Variable) {
	for pair := range slices.Chunk(words, 2) {
		list = append(list, rt.Variable{Name: pair[0], Kind: kind, Type: pair[1]})
	}
	return list
}

func TestDeclarations(t *testing.T) {
	nb := notebook(t)
	for i, code := range []string{"a, b := 1, \"x\"\nvar c float64", "func f() {}\ntype T struct{}\nconst k = 1",
		"a := 2.5\nb := \"y\"", "import r \"math/rand\"\nn := r.Int()"} {
		t.Run(code, func(t *testing.T) {
			c, err := nb.Translate(Read("In[1]", code))
			if err != nil {
				t.Fatalf("cell %d: %v", i, err)
			}
			nb.Commit(c)
		})
	}
	want := variables("var", "a", "float64", "b", "string", "c", "float64", "n", "int")
	if got := nb.Names("var"); !slices.Equal(got, want) {
		t.Errorf("variables %v, want %v", got, want)
	}
	for kind, want := range map[string][]rt.Variable{"func": variables("func", "f", "func()"),
		"type": variables("type", "T", "T"), "const": {{Name: "k", Kind: "const", Type: "untyped int", Value: "1"}},
		"package": variables("package", "r", "math/rand")} {
		t.Run(kind, func(t *testing.T) {
			if got := nb.Names(kind); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	if missing := nb.Forget("a", "zzz"); !slices.Equal(missing, []string{"zzz"}) {
		t.Errorf("missing %v", missing)
	}
	if _, err := nb.Translate(Read("In[2]", "a + 1")); err == nil {
		t.Error("a is still known")
	}
	shadow, err := nb.Translate(Read("In[4]", "os := 1"))
	if err != nil {
		t.Fatal(err)
	}
	nb.Commit(shadow)
	// as in GoNB
	if c, err := nb.Translate(Read("In[5]", "os.Getenv(\"HOME\")")); err != nil || !c.running.packages["os"] {
		t.Errorf("a package of the name of a variable: %v", expect.Text(err))
	}
	if _, err := nb.Translate(Read("In[6]", "os + 1")); err != nil {
		t.Error(err)
	}
	one, err := nb.Translate(Read("In[3]", "rand.N(3)")) // which only the second version has
	if err != nil || !one.running.packages["math/rand/v2"] {
		t.Errorf("imports %v, %v", one.running.packages, expect.Text(err))
	}
}

// FuzzTranslate: no cell makes the translation panic.
func FuzzTranslate(f *testing.F) {
	for _, code := range []string{"x := 1", "func f() {}", "type T struct{ a int }\nfunc (t T) M() {}", "!ls\n%%\nfor {",
		"import \"fmt\"", "a, b := f(), 2; x"} {
		f.Add(code)
	}
	list, err := std()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, code string) {
		nb := New(list, "")
		s := Read("In[1]", code)
		Complete(code)
		if c, err := nb.Translate(s); err == nil {
			nb.Commit(c)
		}
		nb.Complete(code, len(code))
		nb.Inspect(code, len(code)/2)
	})
}

// Names of earlier cells are what they are also while a cell is being written: no text makes the
// translation panic.
func TestEachPrefix(t *testing.T) {
	nb := notebook(t)
	run := func(code string) error {
		c, err := nb.Translate(Read("In[1]", code))
		if err == nil {
			_, err = nb.Package("test", nil, c.ID)
			nb.Commit(c)
		}
		return err
	}
	if err := run(
		"type P struct{ X, y int }\ntype I interface{ m() int }\ntype G[T any] struct{ v T }\nfunc (g *G[T]) get() T { return g.v }\np, f := P{1, 2}, func(p P) P { return p }\nvar g G[P]\nvar i I"); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		"type R P\nvar r R = R(p)", "type Q = P\nvar q Q = p", "type K I\nvar k K = i",
		"type (\n\tA = B\n\tB = P\n)\nfunc (a A) n() int { return a.X }",
		"func (q Q) m() int { return q.y }\ni = p", "func (g *G[T]) set(v T) { g.v = v }\ng.set(P{})",
		"type E struct {\n\tP\n\t*R\n\tI\n}\nvar e = E{P: P{X: 1}}\ne.P.X", "type L struct{ next *L; of map[P][]L }\nvar l L",
		"const n = len([2]P{})\ntype W [n]P\nvar w W",
		"type X X", "type Y Z\ntype Z Y", "func (p p) x() {}", "func (i I) x() {}", "func (*int) x() {}",
		"func (g G[P]) y() {}", "type P = P", "type I I", "var p p",
		"func f[T I](v T) int { return v.m() }\nf(p)", "func m(p P) (P, error) { return p, nil }\nmust(m(p))",
		"type P struct{ X, y int; z string }\np.y + P{1, 2, \"\"}.X", "type I interface{ m() int; o() }\ni.m()",
	} {
		t.Run(code, func(t *testing.T) {
			for n := range len(code) {
				nb.Complete(code[:n], n)
				nb.Inspect(code, n)
				Complete(code[:n])
			}
			err := run(code)
			if wrong := strings.HasPrefix(code, "type X") || strings.HasPrefix(code, "type Y") ||
				strings.Contains(code, "func (p p)") || strings.Contains(code, "func (i I)") ||
				strings.Contains(code, "*int") || code == "type P = P" || code == "type I I" ||
				code == "var p p"; wrong != (err != nil) && !strings.Contains(code, "y() {}") {
				t.Error(err)
			}
		})
	}
}

// A mistake that comes of a variable which could not follow its type says so.
func TestMistakeOfBefore(t *testing.T) {
	nb := notebook(t)
	for i, code := range []string{"type P struct{ x int }\np := P{1}\nfunc f(p P) int { return p.x }",
		"type P struct{ x, y int }\nf(p)"} {
		t.Run(code, func(t *testing.T) {
			c, err := nb.Translate(Read("In[1]", code))
			if list, _ := err.(scanner.ErrorList); i == 1 &&
				(len(list) != 2 || !strings.Contains(list[1].Msg, "keep the old one and its values: p")) {
				t.Errorf("%v", err)
			}
			if err == nil {
				nb.Commit(c)
			}
		})
	}
}

// TestVerify: a package is not built if it would give another meaning to a type that processes have
// loaded.
func TestVerify(t *testing.T) {
	nb := notebook(t)
	noted, err := nb.verify(
		"package main\ntype P struct{ x int }\nfunc (p P) m() {}\nfunc f() { type t int; type t2 struct{ P } }")
	if err != nil || len(noted) != 3 {
		t.Fatal(noted, expect.Text(err))
	}
	nb.noted = noted
	for text, want := range map[string]bool{
		"type P struct{ x int }\nfunc (p P) m() { print(1) }":          true,
		"type Pʹ struct{ x string }":                                   true,
		"type P struct{ x string }\nfunc (p P) m() {}":                 false,
		"type P struct{ x int }":                                       false,
		"type P struct{ x int }\nfunc (p P) m() {}\nfunc (p P) n() {}": false,
		"type P struct{ x int }\nfunc (p P) m() int { return 1 }":      false,
		"type P = int\nfunc g() { type t string }":                     false,
		"func g() { type (t int; t2 int) }":                            false,
		"func g() { type u string }":                                   true,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := nb.verify("package main\n" + text); (err == nil) != want {
				t.Error(expect.Text(err))
			}
		})
	}
}

// A type that is declared again is a new one only where it changes.
func TestNewType(t *testing.T) {
	const b = "type B struct{ n int }\n"
	for name, c := range map[string]struct {
		cells []string
		isNew bool
	}{
		"a body beside a signature with a package": {[]string{
			b + "func (B) Has() rand.Zipf { return rand.Zipf{} }\nfunc (B) n1() int { return 1 }",
			b + "func (B) Has() rand.Zipf { return rand.Zipf{} }\nfunc (B) n1() int { return 2 }"}, false},
		"the same with its import": {[]string{
			"import r \"math/rand\"\n" + b + "func (B) Has() r.Zipf { return r.Zipf{} }\nfunc (B) n1() int { return 1 }",
			"import r \"math/rand\"\n" + b +
				"func (B) Has() r.Zipf { return r.Zipf{} }\nfunc (B) n1() int { return 2 }"}, false},
		"a field of a package": {[]string{"type B struct{ z *rand.Zipf }", "rand.Int()", "type B struct{ z *rand.Zipf }"},
			false},
		"a name that means another package": {[]string{
			"import r \"math/rand\"\ntype B struct{ z *r.Zipf }",
			"import r \"math/rand/v2\"\ntype B struct{ z *r.Zipf }"}, true},
		"a name that an earlier cell gave to another package": {[]string{
			"import r \"math/rand\"\ntype B struct{ z *r.Zipf }", "import r \"math/rand/v2\"",
			"type B struct{ z *r.Zipf }"}, true},
		"a body, and a new type in the signature": {[]string{
			"type A struct{ x int }\n" + b + "func (B) m(a A) int { return a.x }",
			"type A struct{ x, y int }\n" + b + "func (B) m(a A) int { return a.y }\nB{}.m(A{})"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			nb := notebook(t)
			for i, code := range c.cells {
				before := nb.symbols["B"].obj
				one, err := nb.Translate(Read("In[1]", code))
				if err != nil {
					t.Fatal(err)
				}
				nb.Commit(one)
				if _, err := nb.Package("test", nil, one.ID); err != nil {
					t.Error(err)
				}
				isNew := before != nil && nb.symbols["B"].obj != before
				if i == len(c.cells)-1 && isNew != c.isNew {
					t.Errorf("%s\nis a new type: %v, want %v", code, isNew, c.isNew)
				}
			}
		})
	}
}
