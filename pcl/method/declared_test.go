package method

import (
	"math"
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestDeclared: every registered struct makes the method of its name with the defaults.
func TestDeclared(t *testing.T) {
	for name, d := range registry.All() {
		m := must.Get(Make(d.declaration))(t)
		if !same(m, build(t, name, nil)) {
			t.Errorf("%T{} is not the method %s with its defaults", d.declaration, name)
		}
	}
}

// same says whether two methods are equal. The functions of their rehearsals are those of their parts, and cannot
// be compared themselves.
func same(a, b Method) bool { return reflect.DeepEqual(comparable(a), comparable(b)) }

func comparable(m Method) Method {
	c, ok := m.(*composed)
	if !ok {
		return m
	}
	r, out := *c.rehearsal, *c
	r.Draw, r.Shares, r.Rank, r.Renew, r.Store = nil, nil, nil, nil, nil
	out.rehearsal, out.parts = &r, nil
	for _, p := range c.parts {
		p, _ = params.Filled(p)
		out.parts = append(out.parts, p)
	}
	out.assign()
	return &out
}

// TestDeclaredParameters: what is set reaches the method, a zero by its pointer; what is out of range is refused.
func TestDeclaredParameters(t *testing.T) {
	for _, c := range []struct {
		declaration any
		name        string
		params      values
	}{
		{EMGDGMC{Tau: 10, Momentum: new(0.0), Floor: "release"}, "emgd-gmc", values{"tau": "10", "momentum": 0.0, "floor": "release"}},
		{EMGDGMC{Tau: math.Inf(1), Floor: 0.25}, "emgd-gmc", values{"tau": "inf", "floor": "0.25"}},
		{EMGDGMC{Tau: "auto"}, "emgd-gmc", values{"tau": "auto"}},
		{&EMGDGS{Tau: 0.5}, "emgd-gs", values{"tau": "0.5"}},
		{rehearsal.Distill{Alpha: new(0.0)}, "der-pp", values{"alpha": 0.0}},
		{rehearsal.GSS{ScoreAll: true}, "gss", values{"score_all": true}},
	} {
		got := must.Get(Make(c.declaration))(t)
		if !same(got, build(t, c.name, c.params)) {
			t.Errorf("%+v is not %s with %v", c.declaration, c.name, c.params)
		}
	}
	for _, d := range []any{EMGDGMC{Tau: -1}, EMGDGMC{Tau: 0}, EMGDGS{Tau: "auto"}, CAGrad{Divide: "3"}, CAGrad{C: new(-1.0)}} {
		if _, err := Make(d); err == nil {
			t.Errorf("%+v: no error", d)
		}
	}
}

// TestStateIsNotShared: two methods of one declaration remember nothing of each other.
func TestStateIsNotShared(t *testing.T) {
	d := &GradDrop{}
	a := must.Get(Make(d))(t)
	b := must.Get(Make(d))(t)
	if first, second := a.(plain).rule, b.(plain).rule; first == second || first == any(d) {
		t.Error("they are one")
	}
}
