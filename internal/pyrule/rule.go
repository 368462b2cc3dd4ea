// Package pyrule makes methods of rules that are written in Python: the name "python:rules.py:mine"
// is that of the function, object or class mine in the file rules.py. Each learner starts one
// Python process, at its first step, which answers over a pipe. Nothing is started unless
// [SetAllowed] allows it.
package pyrule

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Prefix begins the names of these methods.
const Prefix = "python:"

const most = 1 << 20 // bytes of a file

func init() { method.RegisterScheme(strings.TrimSuffix(Prefix, ":"), open) }

var allowed struct {
	sync.Mutex
	all   bool
	names []string
}

// SetAllowed says which code may be started: all of it, or the methods of these names.
func SetAllowed(all bool, names []string) {
	allowed.Lock()
	defer allowed.Unlock()
	allowed.all, allowed.names = all, names
}

// Allowed refuses a method in Python that may not be started. Parts may follow its name.
func Allowed(name string) error {
	allowed.Lock()
	defer allowed.Unlock()
	name, _, _ = strings.Cut(name, "+")
	if !strings.HasPrefix(name, Prefix) || allowed.all || slices.Contains(allowed.names, name) {
		return nil
	}
	file := name[len(Prefix):max(len(Prefix), strings.LastIndex(name, ":"))]
	return fmt.Errorf("it starts the code in %s, which a file names and not the command: read it, and give --allow-code",
		file)
}

// Rule is a rule in Python.
type Rule struct {
	Code string `param:"code" default:"" doc:"the beginning of the SHA-256 of the file, which configurations of runs have"`

	path, name string
	source     []byte
	saved      json.RawMessage // the state to begin with; nil for none
	process    *process
	failed     error // of a call that returns none
}

// open makes the method of "rules.py:mine". It reads the file and starts nothing.
func open(name string) (method.Method, error) {
	at := strings.LastIndex(name, ":")
	if at < 1 || at == len(name)-1 || filepath.Ext(name[:at]) != ".py" {
		return nil, fmt.Errorf("method %s%s: want %sFILE.py:NAME, where NAME is a function, an object or a class of the file",
			Prefix, name, Prefix)
	}
	r := &Rule{path: name[:at], name: name[at+1:]}
	f, err := regular.Open(r.path)
	if err != nil {
		return nil, fmt.Errorf("method %s%s: %w", Prefix, name, err)
	}
	defer f.Close()
	if r.source, err = io.ReadAll(io.LimitReader(f, most+1)); err == nil && len(r.source) > most {
		err = fmt.Errorf("%s has more than %d bytes", r.path, most)
	}
	return r, err
}

func (r *Rule) full() string { return Prefix + r.path + ":" + r.name }

func (r *Rule) sum() string { return fmt.Sprintf("%x", sha256.Sum256(r.source))[:16] }

// Pin returns the parameters of a method with the checksum of its file, if it is one in Python.
func Pin(name string, params map[string]any) (map[string]any, error) {
	first, _, _ := strings.Cut(name, "+")
	rest, is := strings.CutPrefix(first, Prefix)
	if !is {
		return params, nil
	}
	for given := range params {
		if given == "code" || strings.HasSuffix(given, ".code") {
			return params, nil
		}
	}
	m, err := open(rest)
	if err != nil {
		return nil, err
	}
	if params = maps.Clone(params); params == nil {
		params = map[string]any{}
	}
	params["code"] = m.(*Rule).sum()
	return params, nil
}

// Start refuses a file that is not the one of the configuration.
func (r *Rule) Start() error {
	if r.Code != "" && r.Code != r.sum() {
		return fmt.Errorf("%s has the checksum %s; the configuration is of a file with %s: want that file", r.path,
			r.sum(), r.Code)
	}
	return nil
}

// Info describes the rule.
func (r *Rule) Info() method.Info {
	return method.Info{
		Name: r.full(), Title: r.name + " (" + filepath.Base(r.path) + ")", Family: "mtl",
		Rule:   "what " + r.name + " returns",
		Source: r.path, Cost: "K(F+B) + Gram O(K²P) + a call of Python", State: "what the rule says", SumW: "not fixed",
	}
}

// Needs asks for what a rule in Python is given.
func (*Rule) Needs() method.Needs { return method.Needs{Gram: true, Losses: true} }

// Weights asks the process.
func (r *Rule) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	k := len(w)
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = s.Gram[i*k : (i+1)*k]
	}
	got, err := r.ask(request{Gram: rows, Losses: s.Losses, IDs: s.IDs})
	if err == nil && len(got.Weights) != k {
		err = fmt.Errorf("%s: %d weights for %d streams", r.path, len(got.Weights), k)
	}
	copy(w, got.Weights)
	return method.Outcome{}, err
}

// End tells the rule that a stream has ended. An error is that of the next step.
func (r *Rule) End(id int) {
	if r.process != nil || r.saved != nil {
		_, r.failed = r.ask(request{End: &id})
	}
}

// MarshalState asks for the rule's state; a rule that has none has null.
func (r *Rule) MarshalState() (json.RawMessage, error) {
	if r.process == nil {
		if r.saved == nil {
			return json.RawMessage("null"), nil
		}
		return r.saved, nil
	}
	got, err := r.ask(request{Save: true})
	if got.State == nil {
		got.State = json.RawMessage("null")
	}
	return got.State, err
}

// UnmarshalState takes a state, which the rule gets at the next step.
func (r *Rule) UnmarshalState(state json.RawMessage) error {
	if r.saved = state; r.process == nil {
		return nil
	}
	_, err := r.ask(request{Load: state})
	return err
}

// Close ends the process.
func (r *Rule) Close() error {
	if r.process == nil {
		return nil
	}
	p := r.process
	r.process = nil
	return p.close()
}
