//go:build unix

package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a kernel's folder that knows some packages.
func machine(t *testing.T) *config {
	t.Helper()
	c := &config{files: t.TempDir(), Tools: t.TempDir(), Module: "example.org/ours", Source: t.TempDir()}
	write(t, filepath.Join(c.files, packagesFile), "example.org/ours/toy\nexample.org/ours/viz/nb\n")
	write(t, filepath.Join(c.files, stdFile), "fmt fmt\nstrings strings\nbytes bytes\nos os\nuser os/user\nrand crypto/rand\nrand math/rand\nrand math/rand/v2\ntoy toy\nflag flag\n")
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestImports(t *testing.T) {
	for name, test := range map[string]struct {
		cell, other string // other is what earlier cells declared
		head        string // of the file afterwards
		search      bool
	}{
		"parses":                 {cell: "func main() { fmt.Println(toy.Answer(), nb.Show) }", head: `package main; import "fmt"; import "example.org/ours/viz/nb"; import "example.org/ours/toy"`},
		"a misspelt function":    {cell: "func main() { strings.Foo() }", head: `package main; import "strings"`},
		"a local variable":       {cell: "func main() { user := toy.User(); _ = user.Name }", head: `package main; import "example.org/ours/toy"`},
		"several have the name":  {cell: "func main() { rand.N(1) }", head: "package main", search: true},
		"nobody has the name":    {cell: "func main() { yaml.Parse() }", head: "package main", search: true},
		"a helper":               {cell: "func main() { <-ctx.Done() }", head: "package main"},
		"imported already":       {cell: "import toy \"a/b\"\nfunc main() { toy.Run() }", head: "package main"},
		"imported unknown":       {cell: "import \"gopkg.in/fmt.v3\"\nfunc main() { fmt.Run() }", head: "package main", search: true},
		"not needed":             {cell: "import (\n\t\"os\"\n\t\"fmt\"\n)\nfunc main() { fmt.Println() }", head: "package main\nimport (\n\t    \n\t\"fmt\"\n)"},
		"after a dot":            {cell: "func main() {\nvar b strings.Builder\nb.\n}", head: `package main; import "strings"`},
		"after a package":        {cell: "func main() {\ntoy.\n}", head: `package main; import "example.org/ours/toy"`},
		"of an unfinished name":  {cell: "func main() {\nx := rand.\n}", head: `package main; import "math/rand/v2"`},
		"as in an earlier cell":  {cell: "func main() {\nrand.\n}", other: `import "crypto/rand"`, head: `package main; import "crypto/rand"`},
		"by another name":        {cell: "func main() {\nr.\n}", other: `import r "crypto/rand"`, head: `package main; import r "crypto/rand"`},
		"an earlier variable":    {cell: "func main() {\nuser.\n}", other: `var user struct{ Name string }`, head: "package main"},
		"a variable of the cell": {cell: "var user toy.User\nfunc main() {\nuser.\n}", head: `package main; import "example.org/ours/toy"`},
		"text":                   {cell: "func main() {\nfmt.Println(\"strings\")\nstrings.\n}", head: `package main; import "fmt"; import "strings"`},
		"imports of its own":     {cell: "import (\n\"fmt\"\n)\nfunc main() {\nfmt.\n}", head: "package main\nimport"},
		"a field":                {cell: "func main() {\nx.user.\n}", head: "package main"},
	} {
		t.Run(name, func(t *testing.T) {
			c, dir := machine(t), t.TempDir()
			file := filepath.Join(dir, "main.go")
			write(t, file, "package main\n"+test.cell+"\n")
			write(t, filepath.Join(dir, memory), "package main\n"+test.other+"\n")
			write(t, filepath.Join(dir, helperFile("ctx")), helpers["ctx"])
			done, err := c.fixImports(file)
			if err != nil || done == test.search {
				t.Errorf("done %t, %v", done, err)
			}
			got := read(t, file)
			if !strings.HasPrefix(got, test.head) || strings.Count(got, "import \"") != strings.Count(test.head+test.cell, "import \"") {
				t.Errorf("became\n%s\nwant it to begin with\n%s", got, test.head)
			}
			if strings.Count(got, "\n") != strings.Count(test.cell, "\n")+2 {
				t.Errorf("lines moved:\n%s", got)
			}
		})
	}
}

func TestImpliedMain(t *testing.T) {
	for name, test := range map[string]struct{ cell, want, why string }{
		"statements": {cell: "x := 1\nfmt.Println(x)", want: "package main; func main() { flag.Parse()\n\nx := 1\nfmt.Println(x) }\n"},
		"declarations first": {
			cell: "import \"fmt\"\n\nfunc f() int { return 1 } // one\n// two\nfmt.Println(f()) // three",
			want: "package main\n\nimport \"fmt\"\n\nfunc f() int { return 1 }; func main() { flag.Parse() // one\n// two\nfmt.Println(f()) } // three\n",
		},
		"on one line":           {cell: "var x = 1; fmt.Println(x)", want: "package main\n\nvar x = 1; func main() { flag.Parse();; fmt.Println(x) }\n"},
		"a variable afterwards": {cell: "f()\nvar x = 1\n_ = x", want: "package main; func main() { flag.Parse()\n\nf()\nvar x = 1\n_ = x }\n"},
		"a function called":     {cell: "func() { f() }()", want: "package main; func main() { flag.Parse()\n\nfunc() { f() }() }\n"},
		"a method":              {cell: "func (t T[K]) F(x int) {}"},
		"declarations alone":    {cell: "type T struct{}\nconst c = 1"},
		"nothing":               {cell: "// nothing"},
		"with main":             {cell: "func main() { f() }"},
		"before %%":             {cell: "x := 1\nfunc main() { f(x) }", why: ":3:1: statements stand after the line %%"},
		"a function afterwards": {cell: "f()\n  func f() {}", why: ":4:3: a cell's functions stand before its first statement"},
		"not finished":          {cell: "fmt.", want: "package main; func main() { flag.Parse()\n\nfmt. }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			src := "package main\n\n" + test.cell + "\n"
			out, mistake := withMain([]byte(src))
			if string(out) != test.want || (mistake != nil) != (test.why != "") {
				t.Fatalf("became\n%s\n(%v), want\n%s", out, mistake, test.want)
			}
			if test.want != "" && name != "not finished" {
				if _, err := parser.ParseFile(token.NewFileSet(), "main.go", out, 0); err != nil {
					t.Errorf("%v in\n%s", err, out)
				}
			}
			file := filepath.Join(t.TempDir(), "main.go")
			write(t, file, src)
			code, said := captured(t, func() int { return impliedMain(file) })
			if test.why != "" && (code != 1 || !strings.HasPrefix(said, file+test.why)) || test.why == "" && (said != "" || (code == 0) != (test.want != "")) {
				t.Errorf("exit code %d, said %q", code, said)
			}
		})
	}
}

// captured is what a function prints.
func captured(t *testing.T, f func() int) (code int, said string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	old := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = old }()
	code = f()
	return code, read(t, path)
}
