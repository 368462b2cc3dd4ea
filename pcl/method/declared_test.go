package method

import (
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestDeclared: the zero value of every registered struct is the method of its name with the
// defaults.
func TestDeclared(t *testing.T) {
	for name, r := range registry.All() {
		if m := must.Get(complete(r.new()))(t); !same(m, build(t, name, nil)) {
			t.Errorf("the zero value of %T is not the method %s with its defaults", m, name)
		}
	}
}

// same says whether two methods that have begun are equal: in their settings, and in those of the
// parts of their rehearsals.
func same(a, b Method) bool {
	rule := func(m Method) Method {
		if c, ok := m.(*Composition); ok {
			return c.rule
		}
		return m
	}
	parts := func(m Method) (all []rehearsal.Part) {
		for _, p := range partsOf(m) {
			_ = params.Fill(p)
			all = append(all, p)
		}
		return all
	}
	return reflect.DeepEqual(rule(a), rule(b)) && reflect.DeepEqual(parts(a), parts(b))
}

// own is a method that is not of this package.
type own struct {
	Rate float64 `param:"rate" default:"2" range:"(0,9]"`

	started int
	states  []float64
}

func (o *own) Start() error { o.started++; return nil }
func (*own) Needs() Needs   { return Needs{} }
func (o *own) Weights(_ *Step, w []float64) (Outcome, error) {
	o.states = append(o.states, o.Rate)
	return Outcome{}, nil
}

// plain is a method without parameters and state, which may also be a value.
type plain struct{}

func (plain) Needs() Needs                              { return Needs{} }
func (plain) Weights(*Step, []float64) (Outcome, error) { return Outcome{}, nil }

// TestOneLearner: a method is set up once, with its defaults, and a second learner is refused it.
func TestOneLearner(t *testing.T) {
	inside := &EMGDGMC{}
	for what, m := range map[string]Method{
		"a rule": &EMGDGMC{Tau: 3}, "one without parameters": &UPGrad{}, "a composition": Compose(inside, &rehearsal.MIR{}),
		"one that brings parts": &DERPP{},
		"one of a user":         &own{}, "rescaled": &Rescaled{Method: &own{}, To: "mean"}, "by name": build(t, "dwa", nil),
	} {
		t.Run(what, func(t *testing.T) {
			must.Get(Start(m))(t)
			if _, err := Start(m); err == nil {
				t.Error("a second learner may have it")
			}
		})
	}
	if _, err := Start(inside); err == nil {
		t.Error("a second learner may have the rule of a composition")
	}
	for _, m := range []Method{plain{}, &plain{}, &Sum{}} {
		must.Get(Start(m))(t)
		must.Get(Start(m))(t) // which remembers nothing
	}
	m := &own{}
	must.Do(t, begin(m))
	switch must.Get(Start(m))(t); {
	case m.started != 1:
		t.Errorf("m.started is %d; want 1", m.started)
	case m.Rate != 2:
		t.Errorf("m.Rate is %g; want 2", m.Rate)
	}
	if _, err := Start(&own{Rate: 10}); err == nil {
		t.Error("a rate out of range: no error")
	}
	if d := must.Get(Start(&own{}))(t); d.Info.Name != "own" {
		t.Errorf("a method that is not registered is called %q", d.Info.Name)
	}
}

// TestFirstStepSetsUp: a method works without a learner, from its first step on.
func TestFirstStepSetsUp(t *testing.T) {
	s := &Step{IDs: []int{0, 1}, Gram: []float64{18, -22, -22, 38}}
	w := weigh(t, &EMGDGMC{Tau: 1}, s)
	wants(t, w, []float64{1.251119, .963249}, 1e-6, "EMGD")
	for _, m := range []Method{&EMGDGMC{Tau: -2}, &CAGrad{Divide: "x"}, &MGDA{Norm: "l3"}} {
		if _, err := try(m, s); err == nil {
			t.Errorf("%+v: no error", m)
		}
	}
}
