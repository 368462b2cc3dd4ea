package pyrule

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/method"
)

const rules = `import numpy as np


def inverse(gram, losses, ids):
    w = 1 / np.sqrt(np.diag(gram))
    return w / w.sum()


class Counting:
    def __init__(self):
        self.state = {"steps": 0, "ended": []}

    def __call__(self, gram, losses, ids):
        print("this is not an answer")
        self.state["steps"] += 1
        return [self.state["steps"] + loss for loss in losses]

    def end(self, id):
        self.state["ended"].append(id)


def short(gram, losses, ids):
    return [1.0]


def infinite(gram, losses, ids):
    return [float("inf")] * len(ids)


def raises(gram, losses, ids):
    x = {}
    return x["weights"]


number = 3
`

// written writes a file of rules, and returns the beginning of the names of its methods.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.py")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return Prefix + path + ":"
}

func started(t *testing.T, name string) *method.Started {
	t.Helper()
	m := must.Get(method.New(name, nil))(t)
	s := must.Get(method.Start(m))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s
}

func step() *method.Step {
	return &method.Step{IDs: []int{0, 4}, Losses: []float64{0.1, 1.0 / 3}, Gram: []float64{18, -22, -22, 38}}
}

func weights(s *method.Started) ([]float64, error) {
	w := make([]float64, 2)
	_, err := s.Method.Weights(step(), w)
	return w, err
}

// TestState: a rule goes on from the state of another one, also before its first step, and learns
// which streams ended.
func TestState(t *testing.T) {
	must.Python(t, "numpy")
	SetAllowed(true, nil)
	at := written(t, rules)
	first := started(t, at+"Counting")
	must.Get(weights(first))(t)
	first.Stateful.End(7)
	state := must.Get(first.Stateful.MarshalState())(t)
	if string(state) != `{"steps": 1, "ended": [7]}` {
		t.Fatalf("state %s", state)
	}
	second := started(t, at+"Counting")
	must.Do(t, second.Stateful.UnmarshalState(state))
	if kept := must.Get(second.Stateful.MarshalState())(t); string(kept) != string(state) {
		t.Errorf("state %s before the first step; want %s", kept, state)
	}
	want, got := must.Get(weights(first))(t), must.Get(weights(second))(t)
	if !slices.Equal(got, want) || got[1] != 2+1.0/3 {
		t.Errorf("weights %v; want %v", got, want)
	}
	without := started(t, at+"inverse")
	must.Get(weights(without))(t)
	if state := must.Get(without.Stateful.MarshalState())(t); string(state) != "null" {
		t.Errorf("the state of a function is %s", state)
	}
}

// TestErrors: errors name the file, the line and what is wanted.
func TestErrors(t *testing.T) {
	must.Python(t, "numpy")
	SetAllowed(true, nil)
	at := written(t, rules)
	for name, want := range map[string]string{
		at + "short":                         "rules.py:22: the rule returned [1.0]; want 2 finite weights",
		at + "infinite":                      "rules.py:26: the rule returned [inf, inf]; want 2",
		at + "raises":                        `rules.py:32: KeyError: 'weights'`,
		at + "number":                        "number is a int; want a function",
		at + "missing":                       "has no missing; want a function missing(gram, losses, ids)",
		written(t, "def f(:\n") + "f":        "rules.py:1: SyntaxError",
		written(t, "import nowhere\n") + "f": "rules.py:1: ModuleNotFoundError",
		written(t, "import os\nclass f:\n    def __call__(self, *a):\n        os._exit(3)\n") +
			"f": "the Python process has ended",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := weights(must.Get(method.Start(must.Get(method.New(name, nil))(t)))(t))
			expect.Refusal(t, "weights", err, want)
		})
	}
}

// TestNames: names are checked when a method is made, which starts nothing.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"python:rules.txt:mine":       "want python:FILE.py:NAME",
		"python:rules.py":             "want python:FILE.py:NAME",
		"python:rules.py:":            "want python:FILE.py:NAME",
		"python:nowhere/rules.py:one": "no such file",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := method.New(name, nil)
			expect.Refusal(t, "New", err, want)
		})
	}
	at := written(t, rules)
	pinned := must.Get(Pin(at+"inverse+er", map[string]any{"rescale": "mean"}))(t)
	must.Get(method.New(at+"inverse", pinned))(t)
	if err := os.WriteFile(strings.TrimSuffix(strings.TrimPrefix(at, Prefix), ":"), []byte(rules+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, err := method.New(at+"inverse", pinned)
	expect.Refusal(t, "a changed file", err, "want that file")
	switch about := must.Get(method.Lookup(at + "inverse"))(t); {
	case about.Title != "inverse (rules.py)":
		t.Errorf("about.Title is %q; want %q", about.Title, "inverse (rules.py)")
	case !about.Needs.Losses:
		t.Error("about.Needs.Losses is false")
	}
}

// TestAllowed: code starts only if its name was typed, or all is allowed.
func TestAllowed(t *testing.T) {
	must.Python(t, "numpy")
	at := written(t, rules)
	for _, c := range []struct {
		all   bool
		names []string
		may   bool
	}{{false, nil, false}, {false, []string{at + "short"}, false}, {false, []string{at + "inverse"}, true},
		{true, nil, true}} {
		SetAllowed(c.all, c.names)
		_, err := weights(started(t, at+"inverse"))
		if may := err == nil; may != c.may || !may && !strings.Contains(err.Error(), "give --allow-code") {
			t.Errorf("all %v, names %v: error %v", c.all, c.names, err)
		}
	}
}
