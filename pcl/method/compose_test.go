package method

import (
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestCompositionsByName: names of a method and parts are built, and described as both.
func TestCompositionsByName(t *testing.T) {
	for name, title := range map[string]string{
		"emgd-gmc+der-pp":             "EMGD (GMC) + DER++",
		"upgrad+mir":                  "UPGrad + MIR",
		"emgd-gmc+icarl":              "EMGD (GMC) + iCaRL",
		"der-pp+mir":                  "DER++ + MIR",
		"emgd-gmc+der-pp+ncm+herding": "EMGD (GMC) + DER++ + nearest class mean + herding",
		"emgd-gmc+per-task":           "EMGD (GMC) + a row per finished task",
		"gem+herding":                 "GEM + herding",
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Lookup(name)
			if err != nil {
				t.Error(err)
				return
			}
			info := Describe(build(t, name, nil))
			switch {
			case info != d.Info:
				t.Errorf("info is %+v; want %+v", info, d.Info)
			case info.Name != name:
				t.Errorf("info.Name is %q; want %q", info.Name, name)
			case info.Title != title:
				t.Errorf("info.Title is %q; want %q", info.Title, title)
			}
			first, rest, _ := strings.Cut(name, "+")
			rule := Describe(build(t, first, nil))
			if info.Family != rule.Family || d.Needs != build(t, first, nil).Needs() {
				t.Errorf("%s does not need what %s does", name, first)
			}
			for _, n := range strings.Split(rest, "+") {
				i := rehearsal.Describe(must.Get(rehearsal.Find(n))(t))
				cost, state := strings.TrimPrefix(i.Cost, "none; "),
					strings.TrimPrefix(strings.TrimPrefix(i.State, "none; "), "none, apart from ")
				switch {
				case !strings.Contains(info.Rule, i.Does):
					t.Errorf("info.Rule is %q; want %q in it", info.Rule, i.Does)
				case !strings.Contains(info.Source, i.Source):
					t.Errorf("info.Source is %q; want %q in it", info.Source, i.Source)
				case state != "none" && !strings.Contains(info.State, state),
					cost != "none" && !strings.Contains(info.Cost, cost):
					t.Errorf("the description of %s leaves %s out", name, n)
				}
				if strings.Contains(info.Cost, "+ none") || strings.Contains(info.State, "; none") {
					t.Errorf("in the middle of the cost %q or the state %q of %s there is none", info.Cost, info.State, name)
				}
			}
		})
	}
}

// TestCompositionsThatAreRefused: what two parts both set, what a rule cannot see, and unknown
// names.
func TestCompositionsThatAreRefused(t *testing.T) {
	for _, name := range []string{
		"der-pp+icarl", "er+mir+gmed", "mir+mir", "emgd-gmc+gss+herding", "icarl+ncm", "mdmtr+icarl", "gem+mir",
		"der-pp+emgd-gmc", "emgd-gmc+emgd-gs",
		"emgd-gmc+dark", "emgd-gmc+", "emdg+der-pp", "+der-pp", "gdumb+der-pp", "gdumb+mir", "er+per-task",
		"emgd-gmc+per-task+der-pp", "gem+ewc", "emgd+las",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(name, nil); err == nil {
				t.Errorf("%s is built", name)
			}
		})
	}
	for _, c := range []struct {
		name   string
		params values
	}{
		{"a-gem+der-pp", values{"rows": "apart"}}, {"a-gem+ewc", values{"rows": "apart"}},
		{"emgd-gmc+per-task+der-pp", values{"draws": "one", "beta": 0}},
		{"mdmtr+per-task", values{"distill": 1}}, {"avggrad+gss+der-pp", values{"beta": 0}},
		{"der-pp+gmed", values{"alpha": 0.1}}, // of which?
		{"emgd-gmc+der-pp", values{"alpha": 0.1, "der-pp.alpha": 0.2}}, {"emgd-gmc+der-pp", values{"gamma": 0.1}},
		{"emgd-gmc+der-pp", values{"mir.gamma": 0.1}},
		{"emgd-gmc+der-pp", values{"alpha": -1}}, {"emgd-gmc+der-pp", values{"draws": "three"}},
		{"emgd-gmc+der-pp", values{"tau": -1}}, {"emgd-gmc+mir", values{"candidates": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(c.name, c.params); err == nil {
				t.Errorf("%s %v: no error", c.name, c.params)
			}
		})
	}
	// Other values may allow what the defaults forbid.
	build(t, "emgd-gmc+per-task+der-pp", values{"draws": "one"})
}

// TestParametersOfCompositions: with the name of the rule or part, and without it where that is
// enough.
func TestParametersOfCompositions(t *testing.T) {
	want := build(t, "emgd-gmc+der-pp", values{"emgd-gmc.tau": 10, "der-pp.alpha": 0.5})
	for _, p := range []values{{"tau": 10, "alpha": "0.5"}, {"emgd-gmc.tau": "10", "alpha": 0.5},
		{"tau": 10.0, "der-pp.alpha": 0.5}} {
		if !same(build(t, "emgd-gmc+der-pp", p), want) {
			t.Errorf("%v gives another method", p)
		}
	}
	if same(build(t, "emgd-gmc+der-pp", nil), want) {
		t.Error("the parameters change nothing")
	}
	both := build(t, "der-pp+gmed", values{"der-pp.alpha": 0.2, "gmed.alpha": 0.02, "gamma": 0.3}).(*Composition).Parts()
	d, g := both[0].(*rehearsal.Distill), both[1].(*rehearsal.GMED)
	switch {
	case *d.Alpha != 0.2:
		t.Errorf("*d.Alpha is %g; want 0.2", *d.Alpha)
	case *g.Alpha != 0.02:
		t.Errorf("*g.Alpha is %g; want 0.02", *g.Alpha)
	case *g.Gamma != 0.3:
		t.Errorf("*g.Gamma is %g; want 0.3", *g.Gamma)
	}
}

// TestTypedCompositions: structs are the methods that New makes of the names.
func TestTypedCompositions(t *testing.T) {
	type parts = []rehearsal.Part
	for _, c := range []struct {
		method Method
		parts  parts
		name   string
		params values
	}{
		{&EMGDGMC{Tau: 10}, parts{&rehearsal.Distill{Alpha: new(.5)}}, "emgd-gmc+der-pp", values{"tau": 10, "alpha": .5}},
		{&EMGDGMC{Tau: AutoTau}, parts{&rehearsal.Distill{Draws: "one"}}, "emgd-gmc+der-pp",
			values{"tau": "auto", "draws": "one"}},
		{&EMGDGS{}, parts{&rehearsal.Distill{Rows: "apart", Beta: new(0.0)}}, "emgd-gs+der-pp",
			values{"rows": "apart", "beta": 0}},
		{&DERPP{Distill: rehearsal.Distill{Alpha: new(.2)}}, parts{&rehearsal.Herding{Pool: 20}, &rehearsal.NearestMean{}},
			"der-pp+herding+ncm", values{"alpha": .2, "pool": 20}},
		{&UPGrad{}, parts{&rehearsal.GSS{ScoreAll: true}, &rehearsal.MIR{}}, "upgrad+gss+mir", values{"score_all": true}},
		{&GEM{}, parts{&rehearsal.Greedy{}}, "gem+greedy", nil},
		{&EMGDGMC{Tau: 10, Momentum: new(0.0), Floor: ReleaseFloor}, nil, "emgd-gmc",
			values{"tau": "10", "momentum": 0.0, "floor": "release"}},
		{&EMGDGMC{Tau: Temperature(math.Inf(1)), Floor: 0.25}, nil, "emgd-gmc", values{"tau": "inf", "floor": "0.25"}},
		{&EMGDGS{Tau: 0.5}, nil, "emgd-gs", values{"tau": "0.5"}},
		{&DERPP{Distill: rehearsal.Distill{Alpha: new(0.0)}}, nil, "der-pp", values{"alpha": 0.0}},
		{&GSS{GSS: rehearsal.GSS{ScoreAll: true}}, nil, "gss", values{"score_all": true}},
		{build(t, "emgd-gmc", values{"rescale": "mean"}), parts{&rehearsal.Distill{}}, "emgd-gmc+der-pp",
			values{"rescale": "mean"}},
		{build(t, "der-pp", values{"rescale": "match_avg"}), parts{&rehearsal.Herding{}}, "der-pp+herding",
			values{"rescale": "match_avg"}},
		{build(t, "emgd-gmc+der-pp", nil), parts{&rehearsal.Herding{}}, "emgd-gmc+der-pp+herding", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.method
			if len(c.parts) > 0 {
				got = Compose(got, c.parts...)
			}
			got = must.Get(complete(got))(t)
			switch want := build(t, c.name, c.params); {
			case !same(got, want):
				t.Error("same(got, want) is false")
			case Describe(got).Name != Describe(want).Name:
				t.Errorf("%+v is not %s with %v", c.method, c.name, c.params)
			}
		})
	}
	for _, m := range []Method{
		&EMGDGMC{Tau: -1}, &EMGDGMC{Floor: -1}, &EMGDGS{Tau: AutoTau}, &CAGrad{Divide: "3"}, &CAGrad{C: new(-1.0)},
		&DERPP{Distill: rehearsal.Distill{Rows: "three"}},
		Compose(&DERPP{}, &rehearsal.ICaRL{}), Compose(&GDumb{}, &rehearsal.MIR{}),
		Compose(&EMGDGMC{Tau: -1}, &rehearsal.MIR{}), Compose(&EMGDGMC{}, &rehearsal.MIR{Candidates: .5}),
		Compose(&ER{}, &rehearsal.PerTask{}), Compose(&EMGDGMC{}, &rehearsal.Distill{Alpha: new(0.0), Beta: new(0.0)}),
		&Rescaled{Method: &Sum{}, To: "twice"},
	} {
		if _, err := Start(m); err == nil {
			t.Errorf("%+v is started", m)
		}
		if _, brings := m.(Rehearser); brings && innerOf(m) == nil {
			continue // whose Weights are those of the rule alone
		}
		if _, err := m.Weights(&Step{IDs: []int{1}, Gram: []float64{1}}, make([]float64, 1)); err == nil {
			t.Errorf("%+v makes a step", m)
		}
	}
	for what, compose := range map[string]func(){
		"no method": func() { Compose(nil, &rehearsal.MIR{}) }, "no part": func() { Compose(&EMGDGMC{}, nil) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			compose()
		})
	}
}

// TestRescaleOfCompositions: Σw and the mean gradient are those of the rows that the rule sees.
func TestRescaleOfCompositions(t *testing.T) {
	rows := [][]float64{{3, 0, 1}, {1, 1, 0}, {0, 2, 1}}
	s := several{memory: 2, rows: rows, halves: [2][][]float64{rows, rows}, losses: []float64{1, 1, 1}}
	for _, mode := range []string{"native", "mean", "match_avg"} {
		t.Run(mode, func(t *testing.T) {
			w := weigh(t, build(t, "emgd-gmc+der-pp", values{"rescale": mode}), s.step(1))
			want := weigh(t, build(t, "emgd-gmc", values{"rescale": mode}), s.summed().step(1))
			wants(t, w, []float64{want[0], want[0], want[1]}, 1e-12, "rescale=%s", mode)
		})
	}
	for _, name := range []string{"emgd-gmc+der-pp", "der-pp+herding"} {
		t.Run(name, func(t *testing.T) {
			m := build(t, name, values{"rescale": "mean"})
			switch r := rolesOf(m); {
			case r.Curator == nil:
				t.Error("r.Curator is nil")
			case r.Objective == nil:
				t.Error("r.Objective is nil")
			case Describe(m).SumW != "1", Describe(m).Name != name:
				t.Errorf("%s rescaled is %+v with the roles %+v", name, Describe(m), r)
			}
		})
	}
}
