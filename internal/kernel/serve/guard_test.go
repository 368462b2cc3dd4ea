//go:build unix

package main

import (
	"strings"
	"testing"
	"time"
)

// stopped runs a cell, stops it when it has printed something, and returns its error.
func (s *session) stopped(code string) string {
	s.t.Helper()
	id := s.cell(code)
	s.until(id, "stream")
	time.Sleep(100 * time.Millisecond)
	s.order("interrupt_request", fields{})
	m := s.reply(s.shells, id)
	s.outputs(id)
	return m.str("evalue")
}

// failsWith checks that a cell fails with a text, which names the line.
func (s *session) failsWith(code, want string) {
	s.t.Helper()
	got, err := s.runFor(30*time.Second, code)
	if err == nil || !strings.Contains(err.Error(), want) {
		s.t.Errorf("In[%d] %s\nshows %q, error %v, want %q", s.n, code, got, err, want)
	}
}

// A panic ends its cell, wherever a library calls the cell's code, and what cells have declared
// stays.
func TestPanicBelowLibrary(t *testing.T) {
	s := begin(t)
	s.shows(
		"kept := 400000\nfunc work() { panic(\"declared\") }\nfunc Map[T any](v T) { panic(v) }\ntype worker struct{}\nfunc (worker) run() { panic(\"method\") }\n"+
			"func (worker) Write([]byte) (int, error) { panic(\"Write\") }\nvar stored = func() { panic(\"stored\") }\nvar wg sync.WaitGroup", "")
	pid := s.process.Load().cmd.Process.Pid
	for _, c := range []struct{ code, want string }{
		{"go func() { panic(\"in go\") }()\ntime.Sleep(time.Minute)", "In[2]:1: panic: in go"},
		{"wg.Go(func() { panic(\"in WaitGroup.Go\") })\nwg.Wait()\nselect {}", "In[3]:1: panic: in WaitGroup.Go"},
		{"time.AfterFunc(time.Millisecond, func() {\n\tvar m map[string]int\n\tm[\"a\"] = 1\n})\ntime.Sleep(time.Minute)",
			"In[4]:3: panic: assignment to entry in nil map"},
		{"stop := context.AfterFunc(must(context.WithTimeout(ctx, 1)), func() { panic(\"after\") })\n_ = stop\nselect {}",
			"In[5]:1:"},
		{
			"c, cancel := context.WithCancel(context.Background())\ncontext.AfterFunc(c, func() { panic(\"after\") })\ncancel()\nselect {}", "In[6]:2: panic: after"},
		{"testing.Benchmark(func(b *testing.B) { panic(\"in Benchmark\") })", "In[7]:1: panic: in Benchmark"},
		{"wg.Go(work)\nselect {}", "In[1]:2: panic: declared"},
		{"wg.Go(worker{}.run)\nselect {}", "In[1]:5: panic: method"},
		{"wg.Go(stored)\nselect {}", "In[1]:7: panic: stored"},
		{"go Map(\"generic\")\nselect {}", "In[1]:3: panic: generic"},
		{"time.AfterFunc(0, func() { f := Map[string]; f(\"value\") })\nselect {}", "In[1]:3: panic: value"},
		{"go panic(\"builtin\")\nselect {}", "In[13]:1: panic: builtin"},
		{"go strings.Repeat(\"x\", -1)\nselect {}", "In[14]:1: panic: strings: negative Repeat count"},
		{"cmd := exec.Command(\"echo\", \"x\")\ncmd.Stdout = worker{}\ncmd.Run()\nselect {}", "In[1]:6: panic: Write"},
		{
			"import \"golang.org/x/sync/errgroup\"\ng := new(errgroup.Group)\ng.Go(func() error { panic(\"in a group\") })\nselect {}", "In[16]:3: panic: in a group"},
	} {
		s.failsWith(c.code, c.want)
	}
	s.shows("kept", "400000")
	if now := s.process.Load().cmd.Process.Pid; now != pid {
		t.Error("the cells have another process")
	}
}

// Where a cell or a library takes a panic, it goes on as in Go.
func TestPanicGoesOn(t *testing.T) {
	s := begin(t)
	s.shows(
		"type T struct{ n int }\nfunc (T) String() string { panic(\"in String\") }\nfunc (t T) Deep(n int) int {\n\tif n == 0 {\n\t\tpanic(\"deep\")\n\t}\n\treturn t.Deep(n - 1)\n}\n"+
			"func caught(f func()) (p any) {\n\tdefer func() { p = recover() }()\n\tf()\n\treturn nil\n}\nvar wg sync.WaitGroup",
		"")
	s.shows("caught(func() { sort.Slice([]int{1, 2}, func(i, j int) bool { panic(\"in less\") }) })", "in less")
	s.shows(
		"wg.Go(func() {\n\tfmt.Println(caught(func() { slices.SortFunc([]int{1, 2}, func(a, b int) int { panic(\"below a library\") }) }))\n})\nwg.Wait()", "below a library")
	s.shows("caught(func() { T{}.Deep(100) })", "deep")
	s.shows("fmt.Sprint(T{})", "%!v(PANIC=String method: in String)")
	s.shows(
		"next, stop := iter.Pull(func(yield func(int) bool) { panic(\"in a sequence\") })\ndefer stop()\ncaught(func() { next() })", "in a sequence")
	s.shows("var e any = caught(func() { var p *T; _ = p.n })\n_, ok := e.(runtime.Error)\nok", "true")
	s.shows(
		"defer func() {\n\tdefer func() { fmt.Println(\"inner\", recover()) }()\n\tpanic(fmt.Sprint(\"again \", recover()))\n}()\npanic(\"first\")", "inner again first")
	s.shows(
		"srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))\n_, err := http.Get(srv.URL)\nerr != nil", "true")
	s.shows(
		"var f func(n int)\nf = func(n int) {\n\tif n == 0 {\n\t\tpanic(\"recursion\")\n\t}\n\tf(n - 1)\n}\nwg.Go(func() { fmt.Println(caught(func() { f(3) })) })\nwg.Wait()", "recursion")
}

// A stopped cell that waits ends when it goes on.
func TestLeftBehind(t *testing.T) {
	s := begin(t)
	s.shows("ch := make(chan int)\nwoken := false", "")
	for _, code := range []string{"<-ch\nwoken = true", "for range ch {\n\twoken = true\n}"} {
		if err := s.stopped("fmt.Println(\"begun\")\n" + code); !strings.Contains(err, "stopped") {
			t.Errorf("%s: %s", code, err)
		}
	}
	s.shows(
		"for range 2 {\n\tselect {\n\tcase ch <- 1:\n\tcase <-time.After(time.Second):\n\t\tfmt.Println(\"nobody waits\")\n\t}\n}\ntime.Sleep(10 * time.Millisecond)\nwoken", "false")
}

// TestStopIsWhole: after a stop, calls that go on are named, and programs that the cell has started
// are ended.
func TestStopIsWhole(t *testing.T) {
	s := begin(t)
	const left = "!ps -eo args | grep '^[s]leep 87[0-9]' || echo none"
	s.shows("check(exec.Command(\"sleep\", \"870\").Start())", "")
	for _, c := range []struct{ code, want string }{
		{"must(0, exec.Command(\"sleep\", \"871\").Run())", "stopped: what the cell began with is still there"},
		{"out, err := exec.Command(\"sh\", \"-c\", \"sleep 872; echo x\").CombinedOutput()\nfmt.Println(len(out), err)",
			"stopped"},
		{"!echo begun; sleep 873", "stopped"},
		{"import crand \"crypto/rand\"; must(io.CopyN(sha256.New(), crand.Reader, 1<<42))",
			"io.CopyN, called at In[5]:1"},
		{"<-make(chan int)", "could not be stopped: In[6]:1"},
		{"go func() { time.Sleep(time.Hour) }(); <-ctx.Done()", "time.Sleep, called at In[7]:1"},
	} {
		code := c.code
		if !strings.HasPrefix(code, "!") {
			code = "fmt.Println(\"begun\"); " + code
		}
		if err := s.stopped(code); !strings.Contains(err, c.want) {
			t.Errorf("%s\nerror %v, want %q", code, err, c.want)
		}
	}
	s.shows(left, "sleep 870")
}

// TestClosedStreams: a stream that a cell closes is open again in the next cell.
func TestClosedStreams(t *testing.T) {
	s := begin(t)
	for _, c := range []struct{ code, want string }{
		{"fmt.Println(1)\nos.Stdout.Close()", "1"}, {"fmt.Println(2)", "2"},
		{"fmt.Fprintln(os.Stderr, 3)\nos.Stderr.Close()", "3"},
		{"println(\"four\")\nfmt.Fprintln(os.Stderr, 4, os.Stderr.Fd())", "four\n4 2"},
		{
			"os.Stdout.Close()\nname := filepath.Join(must(os.MkdirTemp(\"\", \"x\")), \"f\")\nf := must(os.Create(name))\nf.Fd()", ""},
		{"fmt.Println(5)", "5"}, {"f.WriteString(\"in the file\")\ncheck(f.Close())\nstring(must(os.ReadFile(name)))",
			"in the file"},
		{"cmd := exec.Command(\"echo\", \"6\")\ncmd.Stdout = os.Stdout\ncheck(cmd.Run())", "6"},
	} {
		if c.want == "" {
			s.run(c.code)
		} else {
			s.shows(c.code, c.want)
		}
	}
}
