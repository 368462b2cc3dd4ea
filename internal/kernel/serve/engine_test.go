//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// module is this module's folder, hosts that of its host, which all tests share.
var module, hosts string

// session is a notebook in a test.
type session struct {
	*client
	*notebook
	n     int // of the newest cell
	texts int // that it has shown
}

func begin(t *testing.T) *session {
	t.Helper()
	g, err := build.FindTools(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	host := &build.Host{Module: module, Go: g, Program: filepath.Join(hosts, "host")}
	if _, err := host.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := new(session)
	t.Cleanup(func() { // when the kernel has ended
		pid, dir := s.process.Load().cmd.Process.Pid, s.dir
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			t.Errorf("process %d is still there", pid)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	})
	s.client, _, _ = start(t, func(k *server) (_ engine, err error) {
		s.notebook, err = newNotebook(hosts, k)
		return s.notebook, err
	})
	return s
}

// run runs a cell and returns what it shows.
func (s *session) run(code string, input ...string) (string, error) {
	return s.runFor(time.Hour, code, input...)
}

// runFor interrupts the cell after a time.
func (s *session) runFor(limit time.Duration, code string, input ...string) (text string, err error) {
	id := s.cell(code, fields{"allow_stdin": len(input) > 0})
	s.until(id, "execute_input")
	timer := time.AfterFunc(limit, func() { s.order("interrupt_request", fields{}) })
	defer timer.Stop()
	var reply msg
	for reply.Parent != id {
		select {
		case <-s.questions:
			s.send(s.stdin, "input_reply", "", fields{"value": input[0]})
			input = input[1:]
		case reply = <-s.shells:
		}
	}
	s.n, s.texts = int(reply.Content["execution_count"].(float64)), 0
	for _, m := range s.outputs(id) {
		if text += shown(m); m.Type == "stream" {
			s.texts++
		}
	}
	if reply.str("status") != "ok" {
		err = errors.New(reply.str("evalue"))
	}
	return text, err
}

// shown is an output as text.
func shown(m msg) string {
	data, _ := m.Content["data"].(fields)
	for _, mime := range []string{"image/png", "text/html", "text/markdown"} {
		if _, ok := data[mime]; ok {
			return fmt.Sprintf("[%s]\n", mime)
		}
	}
	if m.Type == "execute_result" {
		return fmt.Sprintln(data["text/plain"])
	}
	return m.str("text")
}

// heavy runs a cell when the host has grown too large.
func (s *session) heavy(code string) (string, error) {
	os.Setenv(memoryVariable, "1")
	defer os.Unsetenv(memoryVariable)
	return s.run(code)
}

// shows checks what a cell shows.
func (s *session) shows(code, want string, input ...string) {
	s.t.Helper()
	got, err := s.run(code, input...)
	if err != nil {
		s.t.Errorf("In[%d] %s: %v", s.n, code, err)
	} else if strings.TrimSpace(got) != want {
		s.t.Errorf("In[%d] %s\nshows %q, want %q", s.n, code, got, want)
	}
}

// fails checks that a cell has an error at a line.
func (s *session) fails(code string, line int) {
	s.t.Helper()
	_, err := s.run(code)
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("In[%d]:%d:", s.n, line)) {
		s.t.Errorf("In[%d] %s: error %v, want one at line %d", s.n, code, err, line)
	}
}

func TestState(t *testing.T) {
	s := begin(t)
	s.shows("x := 40\nfmt.Println(\"x is\", x)", "x is 40")
	s.shows("x += 2\nx", "42")
	s.shows(
		"type point struct{ x, y int }\nfunc (p *point) move(dx int) { p.x += dx }\nfunc double(n int) int { return 2 * n }\np := &point{1, 2}", "")
	s.shows("p.move(5)\nfmt.Printf(\"%+v %T\\n\", *p, *p)\np.x + double(x)", "{x:6 y:2} main.point\n90")
	s.shows("func twice(n int) int { return double(n) }", "")
	s.shows("func double(n int) int { return 100 * n }", "In[4] used the old double: run it again.")
	s.shows("twice(2)", "200") // an old caller sees the new body
	s.shows("x := fmt.Sprint(x, \"!\")\nx", "42!")
	s.shows(
		"a, err := os.ReadFile(\"/nonexistent\")\nb, err := os.ReadFile(\"/nonexistent\")\nlen(a)+len(b) == 0 && err != nil",
		"true")
	s.shows("q := &struct{ a, b int }{1, 2}\nq.a + q.b", "3")
	s.shows("q.a++\nq.a", "2")
	s.shows(
		"type pair[T any] struct{ a, b T }\nfunc (p pair[T]) swap() pair[T] { return pair[T]{p.b, p.a} }\nfunc Map[T, U any](in []T, f func(T) U) (out []U) {\n\tfor _, v := range in {\n\t\tout = append(out, f(v))\n\t}\n\treturn out\n}", "")
	s.shows("pair[string]{\"x\", \"y\"}.swap().a + Map([]int{1}, func(i int) string { return fmt.Sprint(i) })[0]", "y1")
	s.shows("defer fmt.Println(\"last\")\nif x != \"\" {\n\treturn\n}\nfmt.Println(\"never\")", "last")
	s.shows("const (\n\tred = iota\n\tgreen\n)\nvar shapes []interface{ area() float64 }", "")
	s.shows(
		"type square struct{ side float64 }\nfunc (s square) area() float64 { return s.side * s.side }\nshapes = append(shapes, square{3})\nshapes[0].area() + green", "10")
	s.shows(
		"var (\n\tb2, b3 *bytes.Buffer\n\tn1, d1 time.Duration = 3, 4\n)\nvar _ = n1\nvar sends chan<- func(point, ...pair[*square]) (map[string][]struct{ a point }, error)\nfunc _() {}\nn1", "3ns")
	s.shows("import . \"math\"\nn1 = time.Duration(Sqrt(4))\nsends == nil && b2 == b3", "true")
	s.shows(
		"type area interface{ area() float64 }\nvar some area = square{2}\nvar n1 time.Duration\nSqrt(some.area()) + float64(n1)", "2")
	s.shows("b1, _ := json.Marshal(struct{ A int; b string }{1, \"x\"})\nstring(b1)", `{"A":1}`)
	s.shows(
		"var wg sync.WaitGroup\nvar n atomic.Int64\nfor i := range 10 {\n\tgo func(k int) { defer wg.Done(); n.Add(int64(k)) }(i)\n\twg.Add(1)\n}\nwg.Wait()\nn.Load()", "45")
	s.shows("import \"github.com/google/go-cmp/cmp\"\ncmp.Equal(1, 1)", "true")
	s.shows("func Run() bool { return cmp.Equal(1, 2) }\nRun()", "false")
	s.shows("nb.Plot(nil, []float64{1, 2})", "[image/png]")
	s.shows("n2 := 0\nretry:\nn2++\ny2 := n2*2\nif y2 < 6 {\n\tgoto retry\n}\ny2", "6")
	s.shows("goto end\ny2 := 1\nfmt.Println(y2)\nend:\nfmt.Println(2)", "2")
	s.shows("type Named struct{ name string }\nfunc (n Named) Hello() string { return \"I am \" + n.name }", "")
	s.shows(
		"type both struct {\n\tNamed\n\t*point\n}\nwho := both{Named{\"me\"}, &point{7, 8}}\nwho.Hello() + fmt.Sprint(who.Named.name, who.x)", "I am meme7")
	// Names that Go itself has.
	s.shows(
		"type span struct{ min, max, len float64 }\nfunc (s span) error() string { return fmt.Sprint(s.len) }\ncopy, new := []int{1, 2}, \"k\"", "")
	s.shows(
		"at := span{min: 1, max: float64(max(2, 3))}\nat.len = at.max - at.min\nat.error() + fmt.Sprint(len(copy), map[bool]int{true: 1}[true], map[string]int{new: 5})", "22 1 map[k:5]")
}

// Types keep their methods, and a cell that says what is known changes nothing.
func TestTypesAgain(t *testing.T) {
	s := begin(t)
	const decl = "type T struct{ a int }\nfunc (t T) Get() int { return t.a }"
	s.shows(decl+"\nt := T{1}", "")
	s.shows(decl, "")
	s.shows(strings.Replace(decl, "a int", "a /* a remark */ int", 1), "")
	s.shows("t = T{2}\nt.Get()", "2")
	const note = "Declared again: %T and reflect say main.Tʹ."
	s.shows("func (t T) Twice() int { return 2 * t.Get() }\nu := T{4}\nu.Twice()", note+"\n8")
	s.shows("t.Get()", "2")
	// only a body is new
	s.shows("func (t T) Get() int { return -t.a }\nT{3}.Twice()",
		"In[4], In[5] and In[6] used the old T.Get: run them again.\n-6")
	s.shows("t.Get()", "-2")
	s.shows("type T struct{ b int }",
		"The method T.Get does not fit the new type and is left out: run its cell again.\nThe method T.Twice does not fit the new type and is left out: run its cell again.\n"+
			"The new type has another layout, so these keep the old one and its values: t, u. To have the new one, declare them again.\n"+
			"In[7] and In[8] used the old T: run them again.")
	s.shows("type (\n\tA struct{ a int }\n\tB struct{ b int }\n)\nb := B{3}", "")
	s.shows("type (\n\tA struct{ other int }\n\tB struct{ b int } // as it was\n)",
		strings.Replace(note, "main.T", "main.A", 1))
	s.shows("b = B{4}\nb.b", "4")
}

func TestErrors(t *testing.T) {
	s := begin(t)
	s.shows("x := 1", "")
	s.fails("fmt.Println(1)\ny := nothing + 1", 2)
	s.fails("x = (", 1)
	s.fails("\nfunc f() int {\n\treturn \"\"\n}", 3)
	s.fails("x := 2\nx := 3", 2)
	s.fails("fmt.Println(1)\npanic(\"a cell's panic\")", 2)
	s.fails("var m map[string]int\nm[\"a\"] = 1", 2)
	s.fails("os.Exit(3)", 1)
	s.fails("if true {\n\tlog.New(os.Stdout, \"\", 0).Fatal(\"fatal\")\n}", 2)
	s.fails("must(os.Open(\"/nonexistent\"))", 1)
	s.fails("go func() { panic(\"in a goroutine\") }()\ntime.Sleep(time.Minute)", 1)
	s.fails("func deep(n int) {\n\tif n == 0 {\n\t\tpanic(n)\n\t}\n\tdeep(n - 1)\n}\ndeep(3)", 3)
	s.shows("x", "1")
}

func TestStop(t *testing.T) {
	s := begin(t)
	s.shows(
		"x := 1\nfunc spin() {\n\tfor {\n\t}\n}\nfunc fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}\nticks := new(atomic.Int64)\ngo func() {\n\tfor {\n\t\tticks.Add(1)\n\t\ttime.Sleep(time.Millisecond)\n\t}\n}()", "")
	for _, code := range []string{"for {\n\tx++\n}", "spin()", "fib(60)", "<-ctx.Done()", "time.Sleep(time.Hour)",
		"<-make(chan int)", "!sleep 100"} {
		begin := time.Now()
		_, err := s.runFor(300*time.Millisecond, code)
		if err == nil || time.Since(begin) > 30*time.Second {
			t.Errorf("%s: %v after %v", code, expect.Text(err), time.Since(begin))
		}
	}
	// of other cells nothing stops
	s.shows("before := ticks.Load()\ntime.Sleep(100 * time.Millisecond)\nx > 0 && ticks.Load() > before", "true")
}

// The garbage collector knows what is a pointer in the frames of a goroutine, and what only looks
// like one.
func TestCollector(t *testing.T) {
	s := begin(t)
	s.shows(
		"kept := new([14]*int)\nat := reflect.ValueOf(kept).Pointer() | 8191 - 7 // behind the last object\nlike := math.Float64frombits(uint64(at))\ndone := make(chan bool)\n"+
			"go func(a, b, c, d, e, f, g, h, i uintptr, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x float64) { <-done }("+
			strings.Repeat("at, ", 9)+strings.Repeat("like, ", 14)+"like)\nfor range 5 {\n\truntime.GC()\n}\nclose(done)", "")
	s.shows("1", "1")
}

// Texts are shown together, and characters whole.
func TestOutput(t *testing.T) {
	s := begin(t)
	got, err := s.runFor(time.Hour, "for i := range 200000 {\n\tfmt.Println(\"line é\", i)\n}")
	switch {
	case err != nil:
		t.Error(err)
	case !strings.HasPrefix(got, "line é 0\nline é 1\n"):
		t.Errorf("got is %q; want %q at its beginning", got, "line é 0\nline é 1\n")
	case !strings.Contains(got, "lines are left out"):
		t.Errorf("got is %q; want %q in it", got, "lines are left out")
	case !strings.HasSuffix(got, "line é 199999\n"):
		t.Errorf("got is %q; want %q at its end", got, "line é 199999\n")
	case strings.Count(got, "\n") > 10000:
		t.Errorf("%d texts, %d lines, %v", s.texts, strings.Count(got, "\n"), err)
	case s.texts > 1000:
		t.Errorf("s.texts is %d; want at most 1000", s.texts)
	}
	if got, _ := s.run(
		"strings.Repeat(\"a long line \", 1<<20)\nfmt.Println(strings.Repeat(\"a long line \", 1<<20))"); len(got) > 2<<20 {
		t.Errorf("a line of 12 MB: %d bytes", len(got))
	}
	s.shows("for i := range 4000 {\n\tfmt.Print(i%10)\n}", strings.Repeat("0123456789", 400))
	switch got, err := s.run("func boom(n int) int { return boom(n+1) + 1 }\nboom(0)"); {
	case err == nil:
		t.Error("a stack overflow: no error")
	case strings.Count(got, "\n") > 80:
		t.Errorf("a stack overflow: %q, %v", got, err)
	case !strings.Contains(got, "stack overflow"):
		t.Errorf("a stack overflow: got is %q; want %q in it", got, "stack overflow")
	case !strings.Contains(got, "The cells have a new process"):
		t.Errorf("a stack overflow: got is %q; want %q in it", got, "The cells have a new process")
	}
	s.shows("os.Stdout.WriteString(\"\\xc3\")\ntime.Sleep(100 * time.Millisecond)\nos.Stdout.WriteString(\"\\xa9\")", "é")
}

// Lines are commands only where a statement can begin.
func TestCommands(t *testing.T) {
	s := begin(t)
	s.shows("text := `Before\n![figure](fig.png)\n!touch touched\n%%\nafter`\nfmt.Println(text)",
		"Before\n![figure](fig.png)\n!touch touched\n%%\nafter")
	s.shows("/*\n!touch touched\n*/\na, b := true, false\nif a &&\n!b {\n\tfmt.Println(\"a and not b\")\n}", "a and not b")
	s.shows("!ls touched 2>/dev/null; echo one; echo \\\n two", "one\ntwo")
	if got, err := s.run("%version"); err != nil || !strings.Contains(got, "module in ") {
		t.Errorf("%%version shows %q, %v", got, expect.Text(err))
	}
	s.shows("%env KERNEL_TEST value\nos.Getenv(\"KERNEL_TEST\")", "Set: KERNEL_TEST=\"value\"\nvalue")
	s.shows("!echo $KERNEL_TEST", "value")
	s.shows("%%writefile f.txt\none\n!two", "Written: f.txt")
	s.shows("string(must(os.ReadFile(\"f.txt\")))", "one\n!two")
	s.shows("%%bash\necho $((1+1))", "2")
	s.shows("%% n 3\nfmt.Println(os.Args[1:])", "[n 3]")
	for range 2 {
		s.shows("var who = flag.String(\"who\", \"\", \"a name\")\n\n%% --who=world\n*who", "world")
	}
	s.shows("func hello() { fmt.Println(\"hello\") }\n%exec hello", "hello")
	s.shows("func main() { fmt.Println(\"main\") }", "main")
	if got, err := s.run("%vars"); err != nil || !strings.Contains(got, "text") {
		t.Errorf("%%vars shows %q, %v", got, expect.Text(err))
	}
	if _, err := s.run("%nosuch"); err == nil {
		t.Error("an unknown command ran")
	}
}

func TestScan(t *testing.T) {
	s := begin(t)
	s.shows("var name string\nk, err := fmt.Scanln(&name)\nfmt.Println(k, err)", "0 EOF")
	s.shows("fmt.Scanln(&name)\nfmt.Println(name)", "me", "me")
	s.shows(
		"type one struct{}\nfunc (one) Scan(fmt.ScanState, rune) error { return errors.New(\"its own\") }\nvar sc fmt.Scanner = one{}\nsc.Scan(nil, 'v').Error()", "its own")
	s.shows("line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\nfmt.Print(line)", "a line", "a line")
	s.shows("gonbui.RequestInput(\"Who?\", false)\nfmt.Scanln(&name)\nname", "you", "you") // who is asked once
	got, err := s.run(
		"values := make(chan int)\ncomms.Subscribe(\"/none\", func(_ string, v int) { values <- v })\nfmt.Println(<-values)")
	if err != nil || !strings.HasSuffix(got, "0\n") { // which widgets get where there is no page
		t.Errorf("%q, %v", got, expect.Text(err))
	}
}

// A question that was stopped leaves nothing to those who ask later.
func TestStoppedQuestion(t *testing.T) {
	s := begin(t)
	cell := s.cell("var name string\nfmt.Scanln(&name)")
	s.next(s.questions)
	s.order("interrupt_request", fields{})
	s.reply(s.shells, cell)
	s.shows("fmt.Scanln(&name)\nname", "me", "me")
}

func TestCompletion(t *testing.T) {
	s := begin(t)
	s.shows("type thing struct{ width, Height int }\nfunc (thing) Area() int { return 0 }\nvar some thing", "")
	for _, c := range []struct{ code, want string }{
		{"strings.Bui", "Builder"}, {"var b strings.Builder\nb.WriteB", "WriteByte"}, {"some.w", "width"}, {"some.A", "Area"},
		{"for _, v := range []thing{} {\n\tif v.He", "Height"}, {"func f(in []string) {\n\ti", "in"}, {"so", "some"},
		{"must(os.Op", "Open"},
		{"c := experiment.DefaultConfig(\"glyphs\")\nc.Method = \"emgd-g", "emgd-gmc"}, {"thing{He", "Height"}, {"fm", "fmt"},
	} {
		_, got, err := s.complete(c.code, len(c.code))
		if err != nil || !slices.ContainsFunc(got, func(m cell.Proposal) bool { return m.Text == c.want }) {
			t.Errorf("%s: %v, %v; want %s", c.code, got, expect.Text(err), c.want)
		}
	}
	for _, code := range []string{"fmt.Println(\"so", "// so", "`so", "%rm so", "!so", "x := 1\n%%wri"} {
		if _, got, _ := s.complete(code, len(code)); len(got) > 0 {
			t.Errorf("%s: %v", code, got)
		}
	}
	for _, c := range []struct{ code, want string }{
		{"%ve", "%version"}, {"x := 1\n%vers", "%version"}, {"%%wri", "%%writefile"}, {"%time some.w", "width"},
		{"import \"gonum.org/v1/gonum/stat/dis", "gonum.org/v1/gonum/stat/distuv"},
		{"import \"github.com/parallelcl/parallelcl/pcl/meth", "github.com/parallelcl/parallelcl/pcl/method"},
		{"defe", "defer"},
	} {
		_, got, err := s.complete(c.code, len(c.code))
		if err != nil || !slices.ContainsFunc(got, func(m cell.Proposal) bool { return m.Text == c.want }) {
			t.Errorf("%s: %v, %v; want %s", c.code, got, expect.Text(err), c.want)
		}
	}
}

// inspected is what a front end shows of the place of a bar.
func (s *session) inspected(code string) (plain, markdown string) {
	before, after, _ := strings.Cut(code, "|")
	m := s.ask("inspect_request", fields{"code": before + after, "cursor_pos": utf8.RuneCountInString(before)})
	data, _ := m.Content["data"].(fields)
	plain, _ = data["text/plain"].(string)
	markdown, _ = data["text/markdown"].(string)
	return plain, markdown
}

// The inspector knows what is declared, what comments say, and values while no cell runs.
func TestInspector(t *testing.T) {
	s := begin(t)
	s.shows(
		"// Thing is one.\ntype thing struct{ n int }\n\n// list has some.\nlist := []int{1, 2, 3}\nvar any1 any = 7\nhuge := make([]int, 1e6)\n"+
			"type ring struct{ next *ring }\nround := &ring{}\nround.next = round\nnumber := 1.5\none := thing{7}", "")
	for code, want := range map[string][]string{
		"x := strings.To|Upper(\"\")":            {"func strings.ToUpper(s string) string", "ToUpper returns"},
		"numb|er":                                {"var number float64\n// value: 1.5"},
		"any|1":                                  {"var any1 any\n// value: 7 (int)"},
		"lis|t":                                  {"var list []int\n// value: [1 2 3]"},
		"on|e":                                   {"var one thing\n// value: thing{n:7}"},
		"hug|e":                                  {"var huge []int\n// value: "},
		"roun|d":                                 {"var round *ring"},
		"thi|ng{}":                               {"type thing struct{ n int }", "Thing is one"},
		"nb.Plot(nil, |":                         {"func nb.Plot(", "argument 2"},
		"p|cl.New":                               {"package pcl // import"},
		"l := must(experiment.New(\"gly|phs\"))": {"func experiment.New("},
	} {
		t.Run(code, func(t *testing.T) {
			plain, markdown := s.inspected(code)
			for _, w := range want {
				if !strings.Contains(plain, w) || !strings.Contains(markdown, w) {
					t.Errorf("%q, %q; want %q", plain, markdown, w)
				}
			}
			if len(plain) > 10000 {
				t.Errorf("%d bytes", len(plain))
			}
		})
	}
	id := s.cell("fmt.Println(1)\n<-ctx.Done()")
	s.until(id, "stream")
	if plain, _ := s.inspected("numb|er"); !strings.Contains(plain, "a cell is running") {
		t.Errorf("while a cell runs: %q", plain)
	}
	s.order("interrupt_request", fields{})
	s.reply(s.shells, id)
	s.outputs(id)
	if plain, _ := s.inspected("numb|er"); !strings.Contains(plain, "value: 1.5") {
		t.Errorf("afterwards: %q", plain)
	}
}

// A package of a module in go.mod is imported by itself, also if nothing else imports it.
func TestImportsByThemselves(t *testing.T) {
	s := begin(t)
	s.shows("fmt.Sprintf(\"%.3f\", quad.Fixed(math.Sin, 0, math.Pi, 20, nil, 0))", "2.000")
	// the process of the cells lacks it
	s.shows("import \"github.com/parallelcl/parallelcl/deploy\"\ndeploy.Job{Grid: \"table1\"}.Grid", "table1")
	_, err := s.run("rand.NewNothing()")
	expect.Refusal(t, "a name that no package has", err, "undefined: rand.NewNothing")
	own := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/own\n", "own.go": "package own\n",
		"wells/a.go":      "package wells\n\nfunc Dig() int { return 1 }\n",
		"deep/wells/a.go": "package wells\n\nfunc Dig() int { return 2 }\n\nconst Depth = 3\n",
	} {
		file := filepath.Join(own, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s.shows("!*go mod edit -require=example.org/own@v0.0.0 -replace=example.org/own="+own+" && echo done", "done")
	_, err = s.run("wells.Dig()")
	expect.Refusal(t, "two packages have it", err, "example.org/own/deep/wells or example.org/own/wells")
	s.shows("wells.Depth", "3") // only one of them has it
	s.shows("import \"example.org/own/wells\"\nwells.Dig()", "1")
}

// A package that the process of the cells lacks, or has only parts of, is linked for the cells that
// use it, and nothing else is. Only what needs more of the runtime comes with all.
func TestOtherPackages(t *testing.T) {
	s := begin(t)
	s.shows("m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})", "")
	for _, c := range []struct {
		code, want string
		whole      bool
	}{
		{"stat.Correlation([]float64{1, 2, 3}, []float64{1, 3, 2}, nil)", "0.5", false},
		{"var e mat.Eigen\ne.Factorize(m, mat.EigenRight), len(e.Values(nil))", "true\n2", false},
		{"import \"golang.org/x/text/language\"\nimport \"golang.org/x/text/message\"\n" +
			"message.NewPrinter(language.German).Sprint(1234567)", "1.234.567", false}, // which calls what assembly has
		{"import \"gonum.org/v1/gonum/graph/simple\"\ng := simple.NewUndirectedGraph()\n" +
			"g.SetEdge(g.NewEdge(simple.Node(1), simple.Node(2)))\ng.Edges().Len()", "1", true},
		{"stat.Mean([]float64{1, 3}, nil)", "2", false},
	} {
		s.shows(c.code, c.want)
		p := s.process.Load()
		one, err := p.Compile(t.Context(), cell.Read("In[1]", c.code))
		if err != nil {
			t.Fatal(err)
		}
		file, err := p.Link(t.Context(), nil, one.ID)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || p.Go.Shared && (info.Size() > 4<<20) != c.whole {
			t.Errorf("%s: a plugin of %d bytes, %v", c.code, info.Size(), err)
		}
	}
}

// A new host has what cells have declared, values that can be copied, and learners, to the bit.
func TestHandover(t *testing.T) {
	const setup = "g := experiment.New(\"glyphs\", experiment.Options{})\nc := experiment.DefaultConfig(\"glyphs\")\nc.Batch = 8\n" +
		"l := must(g.Learner(ctx, c))\nalso := l\nmust(l.Attach(must(g.Task(ctx, c, 1, 0, 1, 2))))"
	const sum = "fmt.Printf(\"%d %x\\n\", l.Steps(), sha256.Sum256(fmt.Append(nil, must(l.Parameters()))))"
	step := func(n int) string { return fmt.Sprintf("for range %d {\n\tmust(l.Step())\n}", n) }
	attach := "must(l.Attach(must(g.Task(ctx, c, 2, 3, 4))))"
	whole := begin(t)
	want, err := whole.run(setup + "\n" + step(6) + "\n" + attach + "\n" + step(4) + "\n" + sum)
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t)
	s.shows(
		"func double(n int) int { return 2 * n }\nvar byName = map[string][]int{\"a\": {1}}\nf := func() {}\ntype point struct{ x int }\nat := point{3}\nopt := struct{ N *int }{new(int)}\nvar any1 any = map[string]any{\"b\": []int{4}}", "")
	s.shows(setup, "1")
	s.shows(step(3), "")
	const came = "The cells have a new process: the old one had grown too large. Restored: also, any1, at, byName, c, g, l. These did not come along: f, opt. Cells that read one of them are refused until it has a value again."
	if got, err := s.heavy(step(3)); err != nil || strings.TrimSpace(got) != came {
		t.Errorf("%q, %v; want %q", got, expect.Text(err), came)
	}
	s.shows("double(byName[\"a\"][0]) + at.x + any1.(map[string]any)[\"b\"].([]int)[0]", "9")
	s.shows("also == l", "true")
	s.shows(attach, "2")
	s.shows(step(2), "")
	// a fatal error
	if got, err := s.run(
		"mm := map[string]int{}\nfor range 2 {\n\tgo func() {\n\t\tfor {\n\t\t\tmm[\"a\"]++\n\t\t}\n\t}()\n}\ntime.Sleep(time.Minute)"); err == nil {
		t.Errorf("it shows %q", got)
	}
	s.shows(step(2), "")
	s.shows(sum, strings.TrimSpace(want))
	s.shows(
		"type own struct{ data.Stream }\ntask := must(g.Task(ctx, c, 3, 5))\ntask.Stream = own{task.Stream}\nmust(l.Attach(task))", "3")
	switch got, err := s.heavy("l.Steps()"); {
	case err != nil:
		t.Errorf("a stream that cannot be made again: %v", err)
	case !strings.Contains(got, "l: the stream of task 3"):
		t.Errorf("a stream that cannot be made again: got is %q; want %q in it", got, "l: the stream of task 3")
	case !strings.HasSuffix(got, "\n10\n"):
		t.Errorf("a stream that cannot be made again: got is %q; want %q at its end", got, "\n10\n")
	}
}

// A process that does not answer is ended.
func TestStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "host")
	if err := os.WriteFile(file, []byte("#!/bin/sh\nsleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p, err := new(notebook).start(ctx, &build.Cells{Host: &build.Host{Program: file}})
	if err == nil {
		t.Fatal("it has started")
	}
	select {
	case <-p.life.Done():
	case <-time.After(30 * time.Second):
		t.Error("it goes on")
	}
}

// Without plugins each cell has a process of its own, with the values of the one before.
func TestWithoutPlugins(t *testing.T) {
	const setup = "g := experiment.New(\"glyphs\", experiment.Options{})\nc := experiment.DefaultConfig(\"glyphs\")\nc.Batch = 8\n" +
		"l := must(g.Learner(ctx, c))\nmust(l.Attach(must(g.Task(ctx, c, 1, 0, 1, 2))))"
	const sum = "fmt.Printf(\"%d %x\\n\", l.Steps(), sha256.Sum256(fmt.Append(nil, must(l.Parameters()))))"
	const step = "for range 3 {\n\tmust(l.Step())\n}"
	want, err := begin(t).run(setup + "\n" + step + "\n" + step + "\n" + step + "\n" + sum)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CGO_ENABLED", "0")
	defer func(dir string) { hosts = dir }(hosts)
	hosts = t.TempDir()
	s := begin(t)
	if s.process.Load().Go.Plugins {
		t.Fatal("there are plugins without cgo")
	}
	s.shows(
		"x, f := map[string]int{\"a\": 40}, func() int { return 1 }\nfunc double(n int) int { return n }\nfunc twice(n int) int { return double(n) }\nf()", "1")
	s.shows("func double(n int) int { return 2 * n }\nx[\"a\"] += 2",
		"These did not come along: f. Cells that read one of them are refused until it has a value again.")
	s.shows("twice(x[\"a\"])", "84")
	s.shows(setup, "1")
	for range 3 {
		s.shows(step, "")
	}
	s.shows(sum, strings.TrimSpace(want))
	s.fails("x[\"a\"] = 7\npanic(\"a cell's panic\")", 2)
	s.fails("x[\"a\"] = nothing", 1)
	s.shows("%handover\nx[\"a\"]", "The cells have a new process: %handover asked for it. Restored: c, g, l, x.\n7")
	s.shows("import \"github.com/google/go-cmp/cmp\"\ncmp.Equal(x, x)", "true")
	if _, err := s.runFor(5*time.Second, "for {\n\tx[\"a\"]++\n}"); err == nil {
		t.Error("not stopped")
	}
	// a fatal error
	if got, err := s.run(
		"mm := map[string]int{}\nfor range 2 {\n\tgo func() {\n\t\tfor {\n\t\t\tmm[\"a\"]++\n\t\t}\n\t}()\n}\ntime.Sleep(time.Minute)"); err == nil {
		t.Errorf("it shows %q", got)
	}
	s.shows("%% n 3\nfmt.Println(os.Args[1:], x[\"a\"] >= 7, l.Steps())", "[n 3] true 9")
	s.shows("nb.Plot(nil, []float64{1, 2})", "[image/png]")
}

func TestRegisterAgain(t *testing.T) {
	s := begin(t)
	rule := func(weight string) string {
		return "type Own struct{}\nfunc (Own) Needs() method.Needs { return method.Needs{Gram: true} }\nfunc (Own) Weights(s *method.Step, w []float64) (method.Outcome, error) {\n\tfor i := range w {\n\t\tw[i] = " + weight + "\n\t}\n\treturn method.Outcome{}, nil\n}\n" +
			"func init_own() {\n\tmethod.Register(method.Info{Name: \"own\", Title: \"Own\", Family: \"mtl\", Rule: \"w\", Source: \"test\", Cost: \"K\", State: \"none\", SumW: \"1\"}, func() method.Method { return new(Own) })\n}"
	}
	use := "w := make([]float64, 1)\nm := must(method.New(\"own\", nil))\nmust(m.Weights(&method.Step{IDs: []int{1}, Gram: []float64{9}}, w))\nw"
	s.shows(rule("1"), "")
	s.shows(use, "[1]")
	s.shows(rule("2"), "")
	s.shows(use, "[2]")
	if got, err := s.heavy(use); err != nil || !strings.HasSuffix(got, "[2]\n") {
		t.Errorf("after a handover: %q, %v", got, expect.Text(err))
	}
	s.shows(rule("3"), "")
	s.shows(use, "[3]")
}

// TestRandomSessions compares random sessions with what must hold.
func TestRandomSessions(t *testing.T) {
	sessions, cells := 1, 25
	if n, err := strconv.Atoi(os.Getenv("KERNEL_SESSIONS")); err == nil {
		sessions, cells = n, 40
	}
	for seed := range sessions {
		randomSession(t, uint64(seed), cells)
	}
}

// randomSession runs cells of which each does something to variables v0 to v3 and the function f,
// as the model does.
func randomSession(t *testing.T, seed uint64, cells int) {
	r := rand.New(rand.NewPCG(seed, 1))
	s := begin(t)
	s.shows(
		"v0, v1, v2, v3 := 0, 0, 0, 0\nvar list []int\nfunc f(n int) int { return n }\nfunc old(n int) int { return f(n) }\ntype T struct{ a int }\nfunc (t T) Get() int { return t.a }", "")
	v, factor, sign := [4]int{}, 1, 1
	var list []int
	for range cells {
		i, n := r.IntN(4), r.IntN(1000)
		switch r.IntN(12) {
		case 0, 1:
			v[i] = n
			s.shows(fmt.Sprintf("v%d := %d", i, n), "")
		case 2:
			v[i] += n
			s.shows(fmt.Sprintf("v%d += %d\nv%d", i, n, i), fmt.Sprint(v[i]))
		case 3:
			factor = n
			if got, err := s.run(fmt.Sprintf("func f(n int) int { return n * %d }", n)); err != nil || alike(got) != "" {
				t.Errorf("another function: %q, %v", got, expect.Text(err))
			}
		case 4:
			list = append(list, n)
			s.shows(fmt.Sprintf("list = append(list, %d)\nlist", n), fmt.Sprint(list))
		case 5:
			s.fails(fmt.Sprintf("v%d += 0\npanic(v%d)", i, i), 2)
		case 6:
			if _, err := s.runFor(200*time.Millisecond, "for {\n}"); err == nil {
				t.Error("not stopped")
			}
		case 7:
			if got, err := s.heavy("v0"); err != nil || !strings.HasSuffix(got, fmt.Sprintf("%d\n", v[0])) {
				t.Errorf("after a handover: %q, %v; want %d", got, expect.Text(err), v[0])
			}
		case 8:
			if _, err := s.run("import \"github.com/google/go-cmp/cmp\"\nmust(cmp.Equal(1, 2), nil)"); err != nil {
				t.Error(err)
			}
		case 9:
			sign = -sign
			if _, err := s.run(fmt.Sprintf("func (t T) Get() int { return t.a * %d }", sign)); err != nil {
				t.Error(err)
			}
		case 10:
			if _, err := s.run("func boom() { boom() }\nboom()"); err == nil { // the stack overflows, and the host ends
				t.Error("no error")
			}
		case 11:
			s.fails("v0 = nothing", 1)
		}
		want := fmt.Sprintln(v[0], v[1], v[2], v[3], len(list), n*factor, n*sign)
		s.shows(fmt.Sprintf("fmt.Println(v0, v1, v2, v3, len(list), old(%d), T{%d}.Get())", n, n), strings.TrimSpace(want))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
