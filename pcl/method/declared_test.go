package method

import (
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/params"
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

// starting of its own, though the struct that it embeds starts too.
type starts struct{ EMGDGMC }

func (starts) Start() (Method, error) { return Make(MGDA{}) }

func TestOwnStartComesFirst(t *testing.T) {
	if m := must.Get(Make(starts{}))(t); m.Info().Name != "mgda" {
		t.Errorf("%s", m.Info().Name)
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
		full := pointerTo(p)
		_ = params.Fill(full)
		out.parts = append(out.parts, full)
	}
	out.assign()
	return &out
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
