//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// Programs in cells see the names that their author wrote, and nothing is cut from what they print.
func TestNames(t *testing.T) {
	s := begin(t)
	s.shows("fmt.Println(\"ʇxǝʇ ʇ12.5|\", len(\"ʇ\"), \"Ʇ ʇʇ\")", "ʇxǝʇ ʇ12.5| 2 Ʇ ʇʇ")
	s.shows("!echo \"ʇ from the shell\"", "ʇ from the shell")
	s.shows("ʇ := \"ʇ as a value\"\nʇ", "ʇ as a value")
	if _, err := s.run("panic(\"ʇǝsǝɹ\")"); err == nil || !strings.HasSuffix(err.Error(), "panic: ʇǝsǝɹ") {
		t.Errorf("a panic: %v", expect.Text(err))
	}
	_, err := s.run("var n int = \"ʇʇ\"")
	expect.Refusal(t, "a mistake", err, "\"ʇʇ\"")
	s.shows("type point struct{ x, y int }\np := point{1, 2}\nfmt.Sprintf(\"%+v %T\", p, p) == \"{x:1 y:2} main.point\"",
		"true")
	s.shows("f := reflect.TypeOf(p).Field(0)\nfmt.Println(f.Name, f.IsExported(), len(f.Name))", "x false 1")
	s.shows("fmt.Printf(\"%#v|%-12v|%v\", p, p, struct{ a, b any }{p, &p.x == &p.x})",
		"main.point{x:1, y:2}|{1            2           }|{{1 2} true}")
	s.shows("func where() string { panic(\"here\") }\n_, err := os.Open(\"/ʇ\")\nerr.Error()",
		"open /ʇ: no such file or directory")
	if _, err := s.run("where()"); err == nil || err.Error() != fmt.Sprintf("In[%d]:1: panic: here", s.n-1) {
		t.Errorf("a panic in a function: %q", expect.Text(err))
	}
	s.fails("ʇʇx := 1", 1)
}

// Later cells use what earlier ones declare as one Go package does.
func TestOnePackage(t *testing.T) {
	s := begin(t)
	s.shows(
		"type p struct{ x, y int }\ntype secret interface{ hidden() int }\ntype named string\nfunc (p p) hidden() int { return p.x }\na := p{1, 2}", "")
	for _, c := range [][2]string{
		{"b := p{y: 4, x: 3}\npx := &b.x\n*px = 9\nb", "p{x:9, y:4}"},
		{"b == p{9, 4} && b != a", "true"},
		{"type r p\ntype q = p\ntype k secret\nr(b).y + q{5, 6}.hidden() + k(a).hidden()", "10"},
		{"func (v r) hidden() int { return 100 * v.y }\nvar list []secret = []secret{a, r(b)}\nlist[1].hidden()", "400"},
		{"var i any = a\n_, yes := i.(secret)\n_, no := i.(interface{ other() })\nfmt.Println(yes, no)", "true false"},
		{
			"type e struct {\n\tp\n\t*r\n\tsecret\n\tn named\n}\nv := e{p{1, 2}, &r{3, 4}, b, \"n\"}\nfmt.Printf(\"%+v %d\", v.p, v.secret.hidden())", "{x:1 y:2} 9"},
		{"v.p.x, v.n = 7, \"m\"\nw := v\nw.p.x + w.r.x + len(w.n)", "11"},
		{"m := map[p]*p{{1, 2}: &a}\nm[p{1, 2}] == &a", "true"},
		{
			"u := struct{ a, b int }{1, 2}\nfunc f(u struct{ a, b int }) int { return u.a + u.b }\nf(u) + f(struct{ a, b int }{3, 4})", "10"},
		{
			"type tree[T any] struct {\n\tv    T\n\tl, r *tree[T]\n}\nfunc (t *tree[T]) sum(f func(T) int) int {\n\tif t == nil {\n\t\treturn 0\n\t}\n\treturn f(t.v) + t.l.sum(f) + t.r.sum(f)\n}\nroot := &tree[p]{v: p{1, 1}}", ""},
		{"root.l = &tree[p]{v: p{2, 2}}\nroot.sum(p.hidden)", "3"},
		{
			"func largest[T interface{ ~int | ~string }](list ...T) (m T) {\n\tfor _, v := range list {\n\t\tm = max(m, v)\n\t}\n\treturn m\n}\nlargest(3, 8, 5)", "8"},
		{"largest[named](\"a\", \"c\", v.n)", "m"},
		{"switch x := i.(type) {\ncase r:\n\tfmt.Println(\"r\", x.x)\ncase p:\n\tfmt.Println(\"p\", x.x)\n}", "p 1"},
		{"func local() any {\n\ttype t struct{ n int }\n\treturn t{1}\n}\nlocal() == local()", "true"},
		{
			"func local2() any {\n\ttype t struct{ s string }\n\treturn t{\"x\"}\n}\nfmt.Printf(\"%+v %+v %T\", local(), local2(), local2())", "{n:1} {s:x} main.t"},
		{
			"func (v *p) safely() (err error) {\n\tdefer v.catch(&err)\n\tpanic(\"caught\")\n}\nfunc (v *p) catch(err *error) {\n\tif r := recover(); r != nil {\n\t\t*err = fmt.Errorf(\"%v\", r)\n\t}\n}\nerr := a.safely()\nerr.Error()", "caught"},
		{"const big = 1 << 100\nconst third = 1.0 / 3\nconst letter = 'x'\ntype days [big >> 97]int", ""},
		{"fmt.Println(len(days{}), third*3 == 1, big>>98, string(letter), fmt.Sprintf(\"%T\", letter))", "8 true 4 x int32"},
	} {
		t.Run(c[0], func(t *testing.T) {
			s.t = t
			got, err := s.run(c[0])
			got = suffix.ReplaceAllString(got, "")
			if err != nil || strings.TrimSpace(got) != c[1] {
				t.Errorf("%q, %v; want %q", got, expect.Text(err), c[1])
			}
		})
	}
}

// suffix is what the kernel adds to the name of a type that is declared again, and what it says of
// that and of cells that used the old one.
var suffix = regexp.MustCompile(`ʹ\d*|(?m)^(Declared again: |In\[.* used the old ).*\n`)

// Values follow types, functions and methods that are declared again.
func TestDeclaredAgain(t *testing.T) {
	for name, cells := range map[string][][2]string{
		"a method in a cell of its own": {
			{"type P struct{ x int }\np := P{1}\nlist, m, ptr := []P{{2}}, map[P]string{{3}: \"three\"}, &p", ""},
			{"func (p P) Twice() int { return 2 * p.x }\np.Twice()", "2"},
			{"ptr.x = 5\nfmt.Println(p.Twice(), list[0].Twice(), m[P{3}])", "10 4 three"},
			{"func (p P) Twice() int { return 20 * p.x }\nfmt.Println(p.Twice(), list[0].Twice())", "100 40"},
		},
		"the same layout": {
			{"type P struct{ x int }\ntype Q struct{ P }\np, q := P{1}, Q{P{2}}\nfunc sum() int { return p.x + q.x }", ""},
			{"type P struct{ x int `json:\"x\"` }\nq.P = P{7}\nfmt.Println(p, q, sum(), q.P == P{7})", "{1} {{7}} 8 true"},
		},
		"values in interfaces": {
			{
				"type shape interface{ area() float64 }\ntype sq struct{ a float64 }\nfunc (s sq) area() float64 { return s.a * s.a }\nvar s shape = sq{2}\nall := []any{sq{3}, &sq{4}, \"x\"}", ""},
			{
				"func (s sq) String() string { return fmt.Sprint(\"sq \", s.a) }\n_, ok := s.(sq)\n_, ok2 := all[1].(*sq)\nfmt.Println(ok, ok2, s, all[0])", "true true sq 2 sq 3"},
		},
		"another layout": {
			{"type P struct{ x int }\np := P{1}\nfunc get() int { return p.x }", ""},
			{"type P struct{ x, y int }",
				"The new type has another layout, so these keep the old one and its values: p. To have the new one, declare them again."},
			{"p.x + get()", "2"},
			{"p := P{3, 4}\nget() + p.y", "7"},
		},
		"a method that returns what is made of its type": {
			{
				"type P struct{ x int }\ntype Pair struct{ a, b P }\nfunc (p P) with(q P) Pair { return Pair{p, q} }\np := P{1}\npair := p.with(P{2})", ""},
			{"func (p P) Twice() int { return 2 * p.x }\nfmt.Println(p.with(P{3}).b.Twice(), pair.b.Twice())", "6 4"},
			{"func (p Pair) sum() int { return p.a.Twice() + p.b.Twice() }\nfmt.Println(pair.sum(), p.with(p).sum())", "6 4"},
		},
		"a method of an alias": {
			{"type P struct{ x int }\ntype Q = P\nfunc (q Q) same() Q { return q }\nvar q = Q{1}", ""},
			{"func (p P) Twice() int { return 2 * p.x }\nq.same().Twice()", "2"},
		},
		"a method that takes a function on its type": {
			{
				"type P struct{ x int }\ntype rule func(P) P\nfunc (p P) by(r rule) P { return r(p) }\nvar double rule = func(p P) P { return P{2 * p.x} }\np := P{1}", ""},
			{"func (p P) Twice() int { return 2 * p.x }\np.by(double).Twice()", "4"},
		},
		"generic functions": {
			{"func G[T any](v T) string { return fmt.Sprint(\"one \", v) }\nfunc call() string { return G(1) }\ncall()",
				"one 1"},
			{"func G[T any](v T) string { return fmt.Sprintf(\"two %T\", v) }\ncall()", "two int"},
		},
		"another signature": {
			{"func f(n int) int { return n }\nfunc g() any { return f(1) }\ng()", "1"},
			{"func f(n float64) float64 { return n / 2 }\ng()", "0.5"},
			{"func f(s string) string { return s }\nG := 1",
				"g still uses what was declared before, since it does not fit what is new (cannot use 1 (untyped int constant) as string value in argument to f): run its cell again."},
			{"g()", "0.5"},
		},
		"constants": {
			{"const n = 2\ntype A [n]int\nvar a A\nfunc f() int { return n * len(A{}) }\nf()", "4"},
			{"const n = 3\nf()",
				"The new type has another layout, so these keep the old one and its values: a. To have the new one, declare them again.\n9"},
		},
		"an interface that grows": {
			{"type I interface{ A() int }\ntype T int\nfunc (t T) A() int { return int(t) }\nvar i I = T(3)", ""},
			{"type I interface {\n\tA() int\n\tB() int\n}",
				"The new type has another layout, so these keep the old one and its values: i. To have the new one, declare them again."},
			{"func (t T) B() int { return 10 * int(t) }\nvar j I = T(4)\nfmt.Println(i.A(), j.B())", "3 40"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			for _, c := range cells {
				got, err := s.run(c[0])
				if got = suffix.ReplaceAllString(got, ""); err != nil || strings.TrimSpace(got) != c[1] {
					t.Errorf("%s\nshows %q, %v; want %q", c[0], got, expect.Text(err), c[1])
				}
			}
		})
	}
}

// Whole programs run; code that a cell cannot run is refused with a way out.
func TestPrograms(t *testing.T) {
	s := begin(t)
	s.shows(
		"package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tfmt.Println(\"hello\", len(os.Args) > 0)\n}",
		"hello true")
	s.shows(
		"// Package main greets.\npackage main\n\nimport \"fmt\"\n\nfunc init() { fmt.Println(\"first\", a) }\n\nvar a = b + 1\nvar b = f()\n\nfunc f() int { return 3 }\n\nfunc main() { fmt.Println(\"then\") }", "first 4\nthen")
	s.shows("func init() { fmt.Println(\"one\") }\nfunc init() { fmt.Println(\"two\") }", "one\ntwo")
	s.shows("a + f()", "7")
	for code, want := range map[string]string{
		"import _ \"embed\"\n\n//go:embed words.txt\nvar words string":   "os.ReadFile",
		"import \"embed\"\n\n//go:embed *.txt\nvar files embed.FS":       "os.ReadFile",
		"//go:build windows\n\nfmt.Println(1)":                           "leave the line out",
		"//go:build ignore\n\npackage main\n\nfunc main() {}":            "leave the line out",
		"//go:linkname nanotime runtime.nanotime\nfunc nanotime() int64": "package of a module",
		"func asm(int) int": "package of a module",
		"/*\nstatic int twice(int x) { return 2 * x; }\n*/\nimport \"C\"\nC.twice(4)": "package of a module",
		"package other\n\nfunc f() {}":   "leave this line out",
		"x := 1\npackage main":           "leave this line out",
		"package main\n\nfmt.Println(1)": "outside of a function",
	} {
		_, err := s.run(code)
		expect.Refusal(t, fmt.Sprintf("%q", code), err, want)
	}
	s.shows("text := \"//go:embed\"\n//go:noinline\nfunc slow() string { return text }\nslow()", "//go:embed")
}

// goRun is what a program prints.
func goRun(t *testing.T, declarations, main string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	text := "package main\n\n" + declarations + "\n\nfunc main() {\n" + main + "\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	return string(out)
}

// alike takes out of a text what may differ from what go run prints: paths of packages, and
// suffixes of types declared again.
func alike(text string) string {
	return strings.TrimSpace(suffix.ReplaceAllString(strings.ReplaceAll(text, "nb/main", "main"), ""))
}

// TestReflection: by reflection, the standard library says of cells what it says of a program.
func TestReflection(t *testing.T) {
	const imports = "import (\n\t\"bytes\"\n\t\"cmp\"\n\t\"encoding/asn1\"\n\t\"encoding/binary\"\n\t\"encoding/gob\"\n\t\"encoding/json\"\n\t\"encoding/xml\"\n\t\"errors\"\n" +
		"\t\"expvar\"\n\t\"flag\"\n\t\"fmt\"\n\t\"html/template\"\n\t\"iter\"\n\t\"log/slog\"\n\t\"maps\"\n\t\"os\"\n\t\"reflect\"\n\t\"slices\"\n\t\"sort\"\n\t\"strings\"\n\t\"sync\"\n\t\"sync/atomic\"\n\ttext \"text/template\"\n\t\"unique\"\n\t\"unsafe\"\n)\n"
	declarations := []string{
		"type point struct {\n\tx, y int\n\tName string `json:\"name\" xml:\"name,attr\"`\n}",
		"type inner struct{ A, b int }",
		"type outer struct {\n\tinner\n\t*point\n\tList []inner\n\tm map[string]inner\n\tany any\n}",
		"type level int\nconst (\n\tlow level = iota\n\thigh\n)\nfunc (l level) String() string { return [...]string{\"low\", \"high\"}[l] }",
		"type problem struct{ code int }\nfunc (p *problem) Error() string { return fmt.Sprint(\"problem \", p.code) }",
		"type shape interface {\n\tarea() int\n\tName() string\n}\ntype square struct{ side int }\nfunc (s square) area() int { return s.side * s.side }\nfunc (s square) Name() string { return \"square\" }",
		"type stack[T any] struct{ items []T }\nfunc (s *stack[T]) push(v T) { s.items = append(s.items, v) }",
		"type Exported struct {\n\tX, Y int\n\thidden string\n}",
		"func seq(n int) iter.Seq[int] {\n\treturn func(yield func(int) bool) {\n\t\tfor i := range n {\n\t\t\tif !yield(i) {\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}\n}",
	}
	statements := []string{
		"o := outer{inner: inner{1, 2}, point: &point{3, 4, \"p\"}, List: []inner{{5, 6}}, m: map[string]inner{\"k\": {7, 8}}, any: level(1)}\nfmt.Printf(\"%v %+v %T\\n\", o.inner, o.List, o)",
		"fmt.Printf(\"%#v %#v %+v %v\\n\", o.List, o.m, *o.point, o.any)",
		"walk := func(v any) {\n\tt := reflect.TypeOf(v)\n\tfmt.Println(t, t.Name(), t.Kind(), t.Size(), t.Comparable(), t.NumField())\n\tfor i := range t.NumField() {\n\t\tf := t.Field(i)\n\t\tfmt.Println(f.Name, f.Type, f.Tag, f.Offset, f.Index, f.Anonymous, f.IsExported(), f.PkgPath != \"\")\n\t}\n}\nwalk(o)\nwalk(point{})\nwalk(struct {\n\ta int\n\tB string `t:\"x\"`\n}{})\nwalk(stack[point]{})",
		"j, err := json.Marshal(o)\nfmt.Println(string(j), err)\nback := outer{point: &point{}}\nfmt.Println(json.Unmarshal([]byte(`{\"A\":9,\"name\":\"n\",\"List\":[{\"A\":1,\"b\":2}]}`), &back), back.A, back.Name, back.List)",
		"x, err := xml.MarshalIndent(struct {\n\tXMLName xml.Name `xml:\"top\"`\n\tpoint\n\tE Exported\n}{point: *o.point, E: Exported{1, 2, \"h\"}}, \"\", \" \")\nfmt.Println(string(x), err)\nx, err = xml.Marshal(square{2})\nfmt.Println(string(x), err)",
		"var buf bytes.Buffer\nfmt.Println(gob.NewEncoder(&buf).Encode(Exported{1, 2, \"h\"}))\nvar e Exported\nfmt.Println(gob.NewDecoder(&buf).Decode(&e), e)\nfmt.Println(gob.NewEncoder(&buf).Encode(square{1}))",
		"fmt.Println(text.Must(text.New(\"t\").Parse(\"{{.X}} {{.Y}}{{range .L}} {{.}}{{end}}\\n\")).Execute(os.Stdout, map[string]any{\"X\": low, \"Y\": e, \"L\": []level{low, high}}))\nfmt.Println(text.Must(text.New(\"t\").Parse(\"{{.hidden}}\")).Execute(os.Stdout, e))\nfmt.Println(template.Must(template.New(\"h\").Parse(\"<b>{{.X}}</b>\\n\")).Execute(os.Stdout, e))",
		"var s shape = square{3}\nv := reflect.ValueOf(s)\nfmt.Println(s.area(), v.NumMethod(), v.Type().Method(0).Name, v.MethodByName(\"Name\").Call(nil)[0], v.Type().Implements(reflect.TypeFor[shape]()))\n_, ok := any(s).(interface{ area() int })\n_, no := any(s).(interface{ perimeter() int })\nfmt.Println(ok, no)",
		"err = fmt.Errorf(\"wrapped: %w\", &problem{7})\nvar p *problem\nfmt.Println(errors.As(err, &p), p.code, p)",
		"st := stack[point]{}\nst.push(point{1, 2, \"\"})\nfmt.Printf(\"%+v %v\\n\", st, reflect.TypeOf(st).Field(0))",
		"list := []point{{2, 1, \"b\"}, {1, 2, \"a\"}}\nsort.Slice(list, func(i, k int) bool { return list[i].x < list[k].x })\nfmt.Println(list)\nslices.SortFunc(list, func(a, b point) int { return cmp.Compare(b.Name, a.Name) })\nfmt.Println(list, slices.Collect(seq(3)), slices.Sorted(maps.Keys(map[level]int{high: 1, low: 2})))",
		"m := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), reflect.TypeFor[point]())).Interface().(map[string]point)\nm[\"a\"] = point{1, 2, \"\"}\nn := reflect.New(reflect.TypeFor[point]()).Interface().(*point)\nfmt.Println(m, *n, reflect.DeepEqual(m, map[string]point{\"a\": {1, 2, \"\"}}), reflect.TypeFor[[]point]() == reflect.SliceOf(reflect.TypeOf(*n)))",
		"b, err := binary.Append(nil, binary.LittleEndian, struct{ A, B int16 }{1, 2})\nfmt.Println(b, err)\nder, err := asn1.Marshal(struct{ A, B int }{1, 2})\nfmt.Println(der, err)",
		"slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {\n\tif a.Key == \"time\" {\n\t\treturn slog.Attr{}\n\t}\n\treturn a\n}})).Info(\"hi\", \"p\", *o.point, \"l\", high)",
		"fs := flag.NewFlagSet(\"x\", flag.ContinueOnError)\nl := fs.Int(\"n\", 3, \"a number\")\nfs.SetOutput(os.Stdout)\nfs.PrintDefaults()\nfmt.Println(*l, expvar.NewInt(\"v\"), strings.ToUpper(fmt.Sprint(low)))",
		"var ap atomic.Pointer[point]\nap.Store(o.point)\nvar pool = sync.Pool{New: func() any { return new(point) }}\nvar sm sync.Map\nsm.Store(inner{1, 2}, 1)\n_, found := sm.Load(inner{1, 2})\nfmt.Println(ap.Load().x, pool.Get().(*point).x, found, unique.Make(inner{1, 2}) == unique.Make(inner{1, 2}), unsafe.Sizeof(o.inner))",
		"function := func(p point, l ...level) (*inner, error) { return nil, nil }\nfmt.Printf(\"%T %T %T %T\\n\", function, o.m, make(chan<- inner), [2]shape{})",
	}
	want := goRun(t, imports+strings.Join(declarations, "\n"), strings.Join(statements, "\n"))
	s := begin(t)
	for _, d := range append([]string{imports}, declarations...) {
		s.shows(d, "")
	}
	got := ""
	for _, code := range statements {
		text, err := s.run(code)
		if err != nil {
			t.Errorf("%s: %v", code, err)
		}
		got += text
	}
	if got, want := alike(got), alike(want); got != want {
		t.Errorf("in cells:\n%s\nin a program:\n%s", got, want)
	}
}

// TestRandomPrograms compares random sessions, in which types, methods and functions are declared
// again, with programs that declare everything once, as it is at the end, and then do the same.
func TestRandomPrograms(t *testing.T) {
	sessions, cells := 1, 15
	if n, err := strconv.Atoi(os.Getenv("KERNEL_SESSIONS")); err == nil {
		sessions, cells = n, 40
	}
	for seed := range sessions {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomProgram(t, rand.New(rand.NewPCG(uint64(seed), 2)), cells) })
	}
}

// writer writes a random session.
type writer struct {
	r        *rand.Rand
	types    []map[string]string // methods of types by name; the name "" has the fields
	funcs    [3]string
	generic  string
	done     []string // statements that have run
	declared string   // those that have declared variables
}

func (w *writer) typeOf(i int) string {
	return fmt.Sprintf("type T%d struct {\n\t%s\n}", i, w.types[i][""])
}

// declarations are all as they are now.
func (w *writer) declarations() string {
	text := "import (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"reflect\"\n\t\"slices\"\n)\ntype shape interface {\n\tarea() int\n\tfmt.Stringer\n}\nvar _ = slices.Contains[[]int]\n" + w.generic + "\n" + strings.Join(w.funcs[:], "\n") + "\n"
	for i, methods := range w.types {
		text += w.typeOf(i) + "\n"
		for name, body := range methods {
			if name != "" {
				text += body + "\n"
			}
		}
	}
	return text
}

const firstValues = "v0, v1, v2 := T0{n: 1}, &T1{n: 2}, T2{T0: T0{n: 3}, p: &T1{n: 4}}\nlist := []T0{{n: 5}, {n: 6}}\nbyName := map[string]T1{\"a\": {n: 7}}\nkeys := map[T0]int{{n: 8}: 9}\n" +
	"var any0, any1 any = T0{n: 10}, &T1{n: 11}\nshapes := []shape{T0{n: 12}, &T1{n: 13}}\nvar callback func(T0) int\nanon := struct {\n\tt T0\n\tu []T1\n}{T0{n: 14}, nil}\n"

func (w *writer) method(i int, name string) string {
	star := ""
	if i == 1 {
		star = "*"
	}
	n := w.r.IntN(100)
	switch name {
	case "area":
		return fmt.Sprintf("func (t %sT%d) area() int { return t.n * %d }", star, i, n)
	case "String":
		return fmt.Sprintf("func (t %sT%d) String() string { return fmt.Sprint(\"T%d \", t.n, \" %d\") }", star, i, i, n)
	}
	return fmt.Sprintf("func (t %sT%d) %s() int { return t.n + f%d(t.n) + %d }", star, i, name, w.r.IntN(3), n)
}

func randomProgram(t *testing.T, r *rand.Rand, cells int) {
	w := &writer{r: r, generic: "func G[T any](v T) string { return fmt.Sprintf(\"0 %v\", v) }"}
	for i := range w.funcs {
		w.funcs[i] = fmt.Sprintf("func f%d(n int) int { return n + %d }", i, i)
	}
	for i, fields := range []string{"n int", "n int\n\ts string", "T0\n\tp *T1"} {
		w.types = append(w.types, map[string]string{"": fields})
		if i < 2 {
			w.types[i]["area"], w.types[i]["String"] = w.method(i, "area"), w.method(i, "String")
		}
	}
	s := begin(t)
	run := func(code string) string {
		got, err := s.run(code)
		if err != nil {
			t.Fatalf("In[%d] %s: %v", s.n, code, err)
		}
		return got
	}
	run(w.declarations())
	run(firstValues)
	w.declared = firstValues
	do := func(code string) { run(code); w.done = append(w.done, code) }
	const check = "fmt.Printf(\"%v %+v %v %+v %v %v %v %v %v %+v\\n\", v0, *v1, v2, list, byName, keys, any0, any1, shapes, anon)\n" +
		"for _, v := range []any{v0, v1, v2, list, any0, any1, shapes[0], anon} {\n\tj, err := json.Marshal(v)\n\tt := reflect.TypeOf(v)\n\t_, a := v.(T0)\n\t_, b := v.(shape)\n\tfmt.Println(string(j), err, t, t.Kind(), t.Size(), a, b, G(v))\n}\n" +
		"_, is0 := any0.(T0)\n_, is1 := any1.(*T1)\nfmt.Println(is0, is1, v0 == list[0], any0 == any(v0), f0(1)+f1(2)+f2(3), callback != nil && callback(v0) > 0)"
	for i := range cells {
		k, n := r.IntN(3), r.IntN(100)
		switch r.IntN(12) {
		case 0, 1: // a method is changed, or added
			name := []string{"area", "String", "more", "other"}[r.IntN(4)]
			if k == 2 && r.IntN(2) == 0 {
				k = 0
			}
			if k == 2 && (name == "area" || name == "String") {
				name = "more"
			}
			w.types[k][name] = w.method(k, name)
			if k == 2 {
				w.types[k][name] = strings.ReplaceAll(w.types[k][name], "t.n", "t.T0.n")
			}
			run(w.types[k][name])
		case 2: // the same fields again
			w.types[k][""] = strings.Split(w.types[k][""], " `")[0] + fmt.Sprintf(" `tag:\"%d\"`", n)
			run(w.typeOf(k))
		case 3: // another field, and new values
			w.types[k][""] = fmt.Sprintf("more%d []int\n\t", n) + w.types[k][""]
			if k == 0 { // which is a key
				w.types[k][""] = strings.ReplaceAll(w.types[k][""], "[]int", "[2]int")
			}
			run(w.typeOf(k))
			run(firstValues)
			w.done = nil
		case 4, 5:
			w.funcs[k] = fmt.Sprintf("func f%d(n int) int { return n * %d }", k, n)
			run(w.funcs[k])
		case 6:
			w.generic = fmt.Sprintf("func G[T any](v T) string { return fmt.Sprintf(\"%d %%v %%T\", v, v) }", n)
			run(w.generic)
		case 7:
			do(fmt.Sprintf("v0.n, v1.n, v2.p.n = %d, v0.n, v1.n\nv2.T0 = v0", n))
		case 8:
			do(fmt.Sprintf("list = append(list, T0{n: %d}, v0)\nbyName[\"%d\"] = *v1\nkeys[v0]++", n, k))
		case 9:
			do("slices.SortFunc(list, func(a, b T0) int { return a.area() - b.area() })\nlist = list[:len(list):len(list)]")
		case 10:
			do(
				fmt.Sprintf(
					"any0, any1 = v0, &T1{n: %d}\nshapes = append(shapes, v0, v1)\nanon.t = v0\nanon.u = append(anon.u, *v1)", n))
		case 11:
			do(fmt.Sprintf("callback = func(t T0) int { return t.area() + f%d(t.n) + %d }", k, n+1))
		}
		if i == cells/2 || i == cells-1 {
			got, want := alike(run(check)), alike(goRun(t, w.declarations(), w.declared+strings.Join(w.done, "\n")+"\n"+check))
			if got != want {
				t.Fatalf("after In[%d], in cells:\n%s\nin a program:\n%s", s.n, got, want)
			}
		}
	}
}
