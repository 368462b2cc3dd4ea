//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// own is a notebook with a method of its own, values that are kept, and code that has nothing to do with either.
const own = `package main

import "example.org/ours/method"

const scale = 2

var twice = 1.0

type Rule struct{}

func (Rule) Weights(w []float64) { w[0] = double(twice) }

func double(x float64) float64 { return scale * x }

func init_own() { method.Register(Rule{}) }

func plot() { println("a figure") }

func slow() (int, error) { return inner(), nil }

func inner() int { return 1 }

func main() {
	n := 3
	nb.Keep("alone", func() (int, error) {
		return slow()
	})
	nb.Keep("with n", func() (int, error) {
		return n, nil
	})
	println("shown")
}
`

// keys are what the results of runs, and of the two functions in main, are made by.
func keys(t *testing.T, src string) (program, alone, withN string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), src)
	program, _, _ = strings.Cut(machine(t).origin(dir), ";")
	n, err := parseNotebook([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range n.stretches() {
		switch first := strings.Split(src, "\n")[max(s.from-1, 0)]; {
		case strings.Contains(first, "alone"):
			alone = n.sum(s.roots...)
		case strings.Contains(first, "with n"):
			withN = n.sum(s.roots...)
		}
	}
	return program, alone, withN
}

// TestOrigin: what is kept or stored counts as made by other code if code that it uses was edited, and only then.
func TestOrigin(t *testing.T) {
	program, alone, withN := keys(t, own)
	if program == "" || alone == "" || withN == "" {
		t.Fatalf("%q, %q, %q", program, alone, withN)
	}
	for name, test := range map[string]struct {
		old, new string
		p, a, n  bool // which of the keys changes
	}{
		"nothing":                     {"scale", "scale", false, false, false},
		"a comment and spaces":        {"func plot()", "// plot shows.\n\nfunc plot() ", false, false, false},
		"an unrelated function":       {"a figure", "another", false, false, false},
		"a new function first":        {"const scale", "func first() {}\n\nconst scale", false, false, false},
		"a statement afterwards":      {"shown", "seen", false, false, false},
		"the rule's method":           {"w[0] =", "w[0] = 1 +", true, false, false},
		"a function that it calls":    {"scale * x", "scale + x", true, false, false},
		"a constant":                  {"scale = 2", "scale = 3", true, false, false},
		"a variable":                  {"twice = 1.0", "twice = 1.5", true, false, false},
		"a variable set by main":      {"n := 3", "twice = 4; n := 3", true, false, true},
		"the registration":            {"Register(Rule{})", "Register(&Rule{})", true, false, false},
		"another package of the name": {`"example.org/ours/method"`, `method "example.org/theirs"`, true, false, false},
		"a function that fill calls":  {"return 1", "return 2", false, true, true},
		"fill itself":                 {"return slow()", "return 1 + slow()", false, true, true},
		"a variable that fill uses":   {"n := 3", "n := 4", false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(own, test.old) < 1 {
				t.Fatal("the notebook does not have it")
			}
			p, one, n := keys(t, strings.Replace(own, test.old, test.new, 1))
			if (p != program) != test.p || (one != alone) != test.a || (n != withN) != test.n {
				t.Errorf("runs %t, fill %t, fill with n %t", p != program, one != alone, n != withN)
			}
		})
	}
}

// TestSourceSum: an edit of the module's code counts, one of its tests or of a notebook does not.
func TestSourceSum(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "a.go"), "package a")
	was := sourceSum([]string{dir})
	write(t, filepath.Join(dir, "a", "a_test.go"), "package a")
	write(t, filepath.Join(dir, "n.ipynb"), "{}")
	write(t, filepath.Join(dir, ".hidden", "b.go"), "package b")
	if sourceSum([]string{dir}) != was {
		t.Error("files that are not compiled count")
	}
	write(t, filepath.Join(dir, "a", "a.go"), "package a\nvar A = 1")
	if sourceSum([]string{dir}) == was {
		t.Error("an edit of the module does not count")
	}
}

// TestCellsKeepByCode builds cells as the kernel does: a value that is kept is there in the next cell, and is made anew when
// its code is edited.
func TestCellsKeepByCode(t *testing.T) {
	c := machine(t)
	c.Module = "github.com/parallelcl/parallelcl"
	var err error
	if c.Source, err = filepath.Abs("../../.."); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("PARALLELCL_GO", goTool(t))
	if code := c.goCommand([]string{"mod", "init", "gonb_1"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	head := "package main\n\nimport \"" + c.Module + "/viz/nb\"\n\n"
	for _, test := range []struct{ cell, want string }{
		{"func fill() (int, error) { print(\"made \"); return inner(), nil }\nfunc inner() int { return 1 }\nfunc main() { println(must(nb.Keep(\"x\", fill))) }\n", "made 1\n"},
		{"func inner() int { return 1 }\n\n// Again.\nfunc fill() (int, error) { print(\"made \"); return inner(), nil }\nfunc main() { println(2, must(nb.Keep(\"x\", fill))) }\n", "2 1\n"},
		{"func fill() (int, error) { print(\"made \"); return inner(), nil }\nfunc inner() int { return 3 }\nfunc main() { println(must(nb.Keep(\"x\", fill))) }\n", "made 3\n"},
		{"func main() { println(must(nb.Keep(\"y\", func() (int, error) { print(\"made \"); return 5, nil }))) }\n", "made 5\n"},
		{"func main() {\n\tn := 1\n\tprintln(n, must(nb.Keep(\"y\", func() (int, error) { print(\"made \"); return 5, nil })))\n}\n", "1 5\n"},
		{"func main() { println(must(nb.Keep(\"y\", func() (int, error) { print(\"made \"); return 6, nil }))) }\n", "made 6\n"},
	} {
		write(t, "main.go", head+test.cell)
		if code := c.goCommand([]string{"build", "-o", "cell"}); code != 0 {
			t.Fatalf("exit code %d for\n%s", code, test.cell)
		}
		out, err := exec.Command("./cell").CombinedOutput()
		if err != nil || string(out) != test.want {
			t.Errorf("printed %q (%v), want %q for\n%s", out, err, test.want, test.cell)
		}
	}
	if files, err := os.ReadDir("runs/kept"); err != nil || len(files) != 4 {
		t.Errorf("%d values are kept (%v), want the old ones beside the new", len(files), err)
	}
}
