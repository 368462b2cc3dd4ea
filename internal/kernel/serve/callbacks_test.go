//go:build unix

package main

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// called are the packages of the standard library whose functions are called by default: those that
// start goroutines, or call what they are given later.
var called = []string{"bufio", "context", "expvar", "io", "net/http", "net/http/httptest", "net/http/httputil",
	"net/rpc", "runtime/pprof",
	"runtime/trace", "sort", "sync", "testing", "time"}

// uncalled are functions that end the process by themselves, or listen to the network, or change
// what this test shows.
var uncalled = []string{"testing.Main", "testing.RunTests", "testing.RunBenchmarks", "testing.RunExamples",
	"http.ListenAndServe",
	"http.ListenAndServeTLS", "log.SetOutput", "slog.SetDefault", "signal.Notify", "signal.NotifyContext"}

// TestCallbacks hands functions of a cell that panic, and values whose methods do, to each function
// and method of the standard library that takes one: with KERNEL_ALL in all packages, with
// KERNEL_PACKAGE in one. No process is lost.
func TestCallbacks(t *testing.T) {
	s := begin(t)
	s.shows("kept := 7", "")
	pid := s.process.Load().cmd.Process.Pid
	files := map[string]string{}
	out, err := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	in := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	paths, total := called, 0
	if one := os.Getenv("KERNEL_PACKAGE"); one != "" {
		paths = []string{one}
	}
	if os.Getenv("KERNEL_ALL") != "" {
		paths = nil
		for path := range files {
			if first, _, _ := strings.Cut(path, "/"); !slices.Contains(
				[]string{"internal", "vendor", "syscall", "unsafe", "plugin", "debug", "go", "cmd"}, first) &&
				!strings.Contains(path, "internal") && !strings.HasPrefix(path, "syscall") && files[path] != "" {
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
	}
	for _, path := range paths {
		p, err := in.Import(path)
		if err != nil {
			continue
		}
		g := &calls{names: map[string]string{}}
		g.all(p)
		if len(g.lines) == 0 {
			continue
		}
		total += len(g.lines)
		code := ""
		for path, name := range g.names {
			code += fmt.Sprintf("import %s %q\n", name, path)
		}
		code += strings.Join(g.types, "\n") + "\nfunc try() {\n" + strings.Join(g.lines, "\n") +
			"\n}\ntry()\ntime.Sleep(300 * time.Millisecond)"
		if _, err := s.run(code); err != nil && !strings.Contains(err.Error(), "panic: in a cell") {
			t.Logf("%s: %.300s", path, err)
		}
		if got, err := s.run("kept"); err != nil || !strings.HasSuffix(got, "7\n") {
			t.Errorf("%s: then kept is %.300q, %v", path, got, expect.Text(err))
		}
		if now := s.process.Load().cmd.Process.Pid; now != pid {
			t.Errorf("%s: the cells have another process", path)
			pid = now
		}
	}
	if total < 100 && len(paths) > 1 {
		t.Errorf("only %d functions take one", total)
	}
	t.Logf("%d functions and methods of %d packages", total, len(paths))
}

// calls writes calls of functions that take functions.
type calls struct {
	names        map[string]string // of packages, by path
	types, lines []string
}

func (g *calls) qualifier(p *types.Package) string {
	if g.names[p.Path()] == "" {
		g.names[p.Path()] = fmt.Sprintf("%s%d", p.Name(), len(g.names))
	}
	return g.names[p.Path()]
}

func (g *calls) all(p *types.Package) {
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				g.add(p.Name()+"."+name, "", func() string { return g.qualifier(p) + "." + name }, o.Signature())
			}
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			if !ok || !o.Exported() || types.IsInterface(named) || named.TypeParams().Len() > 0 {
				continue
			}
			for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
				if f := m.Obj().(*types.Func); f.Exported() && f.Pkg() == p {
					g.add(p.Name()+"."+name+"."+f.Name(), "x := new("+types.TypeString(named, g.qualifier)+"); ", func() string {
						return "x." + f.Name()
					}, f.Signature())
				}
			}
		}
	}
}

func (g *calls) add(name, before string, callee func() string, sig *types.Signature) {
	// whose methods end the process without a cell's help
	zero := strings.HasPrefix(name, "testing.") && strings.Count(name, ".") == 2
	if slices.Contains(uncalled, name) || zero || sig.TypeParams().Len() > 0 {
		return
	}
	takes, args := false, []string{}
	for i := range sig.Params().Len() {
		arg, isFunc, ok := g.argument(sig.Params().At(i).Type())
		if !ok {
			return
		}
		takes = takes || isFunc
		if !sig.Variadic() || i < sig.Params().Len()-1 {
			args = append(args, arg)
		}
	}
	if takes {
		g.lines = append(g.lines, fmt.Sprintf("go func() { defer func() { recover() }(); %s%s(%s) }()", before, callee(),
			strings.Join(args, ", ")))
	}
}

// argument is a value of a type: a function that panics, or what has methods that do.
func (g *calls) argument(t types.Type) (text string, isFunc, ok bool) {
	if strings.Contains(types.TypeString(t, nil), "internal/") {
		return "", false, false
	}
	if named, is := t.(*types.Named); is && named.Obj().Pkg() != nil && !named.Obj().Exported() {
		return "", false, false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		form := types.TypeString(u, g.qualifier)
		return form + " { panic(\"in a cell\") }", true, true
	case *types.Interface:
		if u.NumMethods() == 0 || types.TypeString(t, nil) == "error" || types.TypeString(t, nil) == "context.Context" {
			break
		}
		name := fmt.Sprint("value", len(g.types))
		decl := "type " + name + " struct{}\n"
		for m := range u.Methods() {
			if !m.Exported() {
				return "", false, false
			}
			decl += fmt.Sprintf("func (%s) %s%s { panic(\"in a cell\") }\n", name, m.Name(),
				strings.TrimPrefix(types.TypeString(m.Signature(), g.qualifier), "func"))
		}
		g.types = append(g.types, decl)
		return name + "{}", true, true
	}
	return "*new(" + types.TypeString(t, g.qualifier) + ")", false, true
}
