//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// matches checks what a cell shows against a regular expression.
func (s *session) matches(code, want string) {
	s.t.Helper()
	got, err := s.run(code)
	if err != nil || !regexp.MustCompile("^(?:"+want+")$").MatchString(strings.TrimSpace(got)) {
		s.t.Errorf("In[%d] %s\nshows %.1000q, %v; want %q", s.n, code, got, expect.Text(err), want)
	}
}

// The value of the last line is shown, within bounds.
func TestShown(t *testing.T) {
	s := begin(t)
	s.shows("type animal struct {\n\tName string\n\tnext *animal\n}\na := &animal{Name: \"a\"}\na",
		"&animal{Name:\"a\", next:<nil>}")
	s.shows("a.next = a\n*a", "animal{Name:\"a\", next:&animal{Name:\"a\", next:<cycle>}}")
	s.shows("make([]int, 1e5)", "["+strings.Repeat("0 ", 20)+"… 0 0 0 0 0] (len 100000)")
	s.shows("m := map[float64]any{math.NaN(): 1, 2: nil}\nm", "map[NaN:1 2:<nil>]")
	s.shows("1 << 100", "1267650600228229401496703205376")
	s.shows("x, y := 3, \"b\"\nx, y, a.Name // all", "3\nb\na")
	s.shows("func two() (int, string, error) { return 1, \"b\", nil }\ntwo()", "1\nb")
	for _, code := range []string{"x;", "two();", "x, y; // hidden", "must(strconv.Atoi(\"7\"));"} {
		s.shows(code, "")
	}
	s.fails("strconv.Atoi(\"x\");", 1)
	s.fails("x, y\nfmt.Println(x)", 1)
	s.fails("x, ", 1)
	s.shows("_, err := os.Open(\"/nonexistent\")\nerr",
		"open /nonexistent: no such file or directory\n  syscall.Errno: no such file or directory")
	s.shows("type loud int\nfunc (loud) String() string { panic(\"loud\") }\nloud(1), []loud{2}",
		"%!v(PANIC=String method: loud)\n[%!v(PANIC=String method: loud)]")
	s.shows("make([]animal, 1e5)", "[text/html]")
	s.shows("must(datasets.Open(ctx, \"glyphs\", datasets.Options{}))", "[image/png]")
	s.shows("plot.New()", "[image/png]")
	s.shows("[]image.Image{image.NewGray(image.Rect(0, 0, 8, 8))}", "[text/html]")
	if got, err := s.run("set := must(datasets.Open(ctx, \"glyphs\", datasets.Options{}))\nset.Train"); err != nil ||
		len(got) > 1000 {
		t.Errorf("samples: %d bytes, %v", len(got), err)
	}
	// values with a key that is not equal to itself follow their types, too
	s.shows("type T struct{ n int }\nvar v any = T{1}", "")
	s.matches("func (t T) Twice() int { return 2 * t.n }\nv.(T).Twice()", "(?s).*\n2")
	got, err := s.run("%who")
	for _, want := range []string{`name +kind +type +bytes +value`, `a +var +\*animal +\d+ +&animal\{Name:"a"`,
		`two +func +func\(\)`,
		`m +var +map\[float64\]any +\d+ +map\[float64\]any \(len 2\)`} {
		if err != nil || !regexp.MustCompile("(?m)^"+want).MatchString(got) {
			t.Errorf("%%who shows %q, %v; want %q", got, expect.Text(err), want)
		}
	}
}

func TestMeasured(t *testing.T) {
	s := begin(t)
	const spent, loop = `wall \S+, processor \S+ \(user \S+, system \S+\)`,
		`\S+ [nµm]?s ± \S+ [nµm]?s a loop \(mean and spread of \d runs? of \d+ loops; best \S+ [nµm]?s\)`
	s.matches("func two() (int, error) { return 1, nil }\nx := 3\n%time x", spent+"\n3")
	s.matches("%time two()", spent+"\n1")
	s.matches("%time y := x + 1\ny", spent+"\n4")
	s.matches("%time x + 1\n%time func() {\n\tx++\n}()", spent+"\n"+spent)
	s.matches("%%time\n%time x\nfmt.Println(\"end\")", spent+"\nend\n"+spent)
	if got, err := s.run("%%time\npanic(\"a cell's panic\")"); err == nil || !strings.HasPrefix(got, "wall ") {
		t.Errorf("a panic: %q, %v", got, err)
	}
	s.matches("%timeit two()", loop)
	s.shows("n := 0", "")
	s.matches("%%timeit\nn++\nn", loop)
	s.shows("n > 1000", "true")
}

// Commands run where they stand.
func TestInPlace(t *testing.T) {
	s := begin(t)
	s.shows("fmt.Println(\"above\")\n!echo shell; echo \\\n  two\nfmt.Println(\"below\")\n!echo last",
		"above\nshell\ntwo\nbelow\nlast")
	s.shows("x := 1\n%env KERNEL_TEST value\n!echo $KERNEL_TEST\n%cd /\nos.Getenv(\"KERNEL_TEST\"), must(os.Getwd())",
		"Set: KERNEL_TEST=\"value\"\nvalue\nCurrent directory: \"/\"\nvalue\n/")
	s.shows("x\n!echo after", "1\nafter")
	s.fails("x++\n%cd /nonexistent\nx = 100", 2)
	s.shows("x", "2")
	s.shows("x++\n!exit 3\nx", "exit status 3\n3")
	s.shows("!echo one\nfunc f() int { return 1 }\n!echo two\nf()", "one\ntwo\n1")
	s.shows("fmt.Println(1)\n%with_inputs\n!read a; echo got $a", "1\ngot it", "it")
	s.shows("text := `\n!echo no\n`\nlen(text)", "10")
	if _, err := s.runFor(300e6, "x++\n!sleep 100\nx = 100"); err == nil {
		t.Error("not stopped")
	}
	s.shows("x < 100", "true")
}

func TestRefused(t *testing.T) {
	s := begin(t)
	for code, want := range map[string]string{
		"%vrs":  "%vrs: there is no such command; %help lists them",
		"%test": "no tests run in cells", "%time": "want %time STATEMENT", "x := 1\n%%html": "at the top",
		"%html": "there is no such command",
	} {
		_, err := s.run(code)
		expect.Refusal(t, code, err, want)
	}
	s.shows("%%html\n<b>a</b>", "[text/html]")
	s.shows("%%markdown\n*a*", "[text/markdown]")
	s.matches("%help", `\[text/markdown\]`)
}

// in runs a cell that the front end calls by a name.
func (s *session) in(name, code, want string) {
	s.t.Helper()
	s.metadata = fields{"cellId": name}
	defer func() { s.metadata = nil }()
	s.shows(code, want)
}

// What used a definition that is another one now is named, once.
func TestStale(t *testing.T) {
	s := begin(t)
	s.in("a", "const scale = 2\ntype P struct{ X int }\nfunc scaled(x int) int { return scale * x }", "")
	s.in("b", "y := scale * 3", "")
	s.in("c", "fmt.Println(scaled(5))", "10")
	s.in("d", "z := y + 1", "")
	s.in("e", "p := P{4}\ndone := 1", "")
	s.in("a", "const scale = 2\ntype P struct{ X int }\nfunc scaled(x int) int { return scale * x }", "")
	s.in("a", "const scale = 3", "In[2], In[3] and In[4] used the old scale: run them again.")
	s.in("a", "const scale = 4", "")
	s.in("b", "y := scale * 3", "")
	s.in("a", "const scale = 5", "In[9] used the old scale: run it again.")
	s.in("f", "func (p P) Twice() int { return 2 * p.X }\np.Twice()", "Declared again: %T and reflect say main.Pʹ.\n8")
	s.in("f", "func (p P) Twice() int { return 3 * p.X }\np.Twice()", "12")
	s.in("g", "p.Twice()", "12")
	s.in("h", "func (p P) Twice() int { return 4 * p.X }", "In[13] used the old P.Twice: run it again.")
	// a variable, in its cell
	s.in("v", "v := 1\nw := 2", "")
	s.in("w", "v + w", "3")
	s.in("x", "w := 3", "")
	s.in("v", "v := 2\nw := 2", "In[16] used the old v: run it again.")
	s.in("w", "v + w", "4")
	s.in("v", "v := 2\nw := 2", "")
	// a cell that was deleted, and one that is another now
	s.in("y", "scaled(1)", "5")
	s.metadata = fields{"cellId": "a", "deletedCells": []string{"y"}}
	s.shows("func scaled(x int) int { return 10 * x }", "")
	s.in("z", "scaled(1)", "10")
	s.in("z", "1", "1")
	s.in("a", "func scaled(x int) int { return 20 * x }", "")
	// without names, a text is a cell
	s.shows("const k = 1", "")
	s.shows("k", "1")
	s.shows("k", "1")
	s.shows("const k = 2", "In[28] used the old k: run it again.")
}
