package method

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/params"
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
		d, err := Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		info := build(t, name, nil).Info()
		if info != d.Info || info.Name != name || info.Title != title {
			t.Errorf("%s is %q with the title %q; Lookup says %+v", name, info.Name, info.Title, d.Info)
		}
		first, rest, _ := strings.Cut(name, "+")
		rule := build(t, first, nil).Info()
		if info.Family != rule.Family || info.NeedsGram != rule.NeedsGram || info.NeedsLosses != rule.NeedsLosses || info.NeedsRows != rule.NeedsRows || info.NeedsCross != rule.NeedsCross || info.Direct != rule.Direct {
			t.Errorf("%s does not need what %s does", name, first)
		}
		for _, n := range strings.Split(rest, "+") {
			part, err := LookupPart(n)
			must(t, err)
			i := part.Info()
			cost, state := strings.TrimPrefix(i.Cost, "none; "), strings.TrimPrefix(strings.TrimPrefix(i.State, "none; "), "none, apart from ")
			if !strings.Contains(info.Rule, i.Does) || !strings.Contains(info.Source, i.Source) || state != "none" && !strings.Contains(info.State, state) || cost != "none" && !strings.Contains(info.Cost, cost) {
				t.Errorf("the description of %s leaves %s out", name, n)
			}
			if strings.Contains(info.Cost, "+ none") || strings.Contains(info.State, "; none") {
				t.Errorf("in the middle of the cost %q or the state %q of %s there is none", info.Cost, info.State, name)
			}
		}
	}
}

// TestCompositionsThatAreRefused, each with its reason.
func TestCompositionsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		params  values
		reasons []string
	}{
		{"der-pp+icarl", nil, []string{"der-pp and icarl", "both set the memory loss"}},
		{"er+mir+gmed", nil, []string{"mir and gmed", "both set the replay"}},
		{"mir+mir", nil, []string{"mir and mir", "both set the replay"}},
		{"emgd-gmc+gss+herding", nil, []string{"gss and herding", "both set the selection"}},
		{"icarl+ncm", nil, []string{"icarl and ncm", "both set the prediction"}},
		{"mdmtr+icarl", nil, []string{"mdmtr and icarl", "both set the"}},
		{"gem+mir", nil, []string{"per-task and mir", "both set the replay"}},
		{"der-pp+emgd-gmc", nil, []string{`"emgd-gmc" is a rule`, "first", "parts are", "per-task"}},
		{"emgd-gmc+emgd-gs", nil, []string{`"emgd-gs" is a rule`}},
		{"emgd-gmc+dark", nil, []string{`unknown part "dark"`, "known:", "der-pp"}},
		{"emgd-gmc+", nil, []string{`unknown part ""`}},
		{"emdg+der-pp", nil, []string{`unknown method "emdg"`, "emgd-gmc"}},
		{"+der-pp", nil, []string{`unknown method ""`}},
		{"gdumb+der-pp", nil, []string{"gdumb makes no training steps"}},
		{"gdumb+mir", nil, []string{"gdumb makes no training steps"}},
		{"er+per-task", nil, []string{"er weighs the tasks against one memory row", "choose another rule"}},
		{"a-gem+der-pp", values{"rows": "apart"}, []string{"a-gem weighs the tasks against one memory row", "rows=joined"}},
		{"emgd-gmc+per-task+der-pp", nil, []string{"a row for each finished task has one loss", "draws=one"}},
		{"emgd-gmc+per-task+der-pp", values{"draws": "one", "beta": 0}, []string{"beta above 0"}},
		{"mdmtr+per-task", values{"distill": 1}, []string{"leave distill at 0"}},
	} {
		_, err := New(c.name, c.params)
		if err == nil {
			t.Errorf("%s %v is built", c.name, c.params)
			continue
		}
		_, lookup := Lookup(c.name)
		for _, reason := range append(c.reasons, "") {
			if !strings.Contains(err.Error(), reason) || c.params == nil && (lookup == nil || !strings.Contains(lookup.Error(), reason)) {
				t.Errorf("%s %v: errors %q and %v, want %q", c.name, c.params, err, lookup, reason)
			}
		}
		if !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: the error %q does not name it", c.name, err)
		}
	}
	// What the defaults forbid other values may allow.
	build(t, "emgd-gmc+per-task+der-pp", values{"draws": "one"})
}

// TestParametersOfCompositions: with the name of the rule or part, and without it where that is enough.
func TestParametersOfCompositions(t *testing.T) {
	want := build(t, "emgd-gmc+der-pp", values{"emgd-gmc.tau": 10, "der-pp.alpha": 0.5})
	for _, p := range []values{{"tau": 10, "alpha": "0.5"}, {"emgd-gmc.tau": "10", "alpha": 0.5}, {"tau": 10.0, "der-pp.alpha": 0.5}} {
		if !same(build(t, "emgd-gmc+der-pp", p), want) {
			t.Errorf("%v gives another method", p)
		}
	}
	if same(build(t, "emgd-gmc+der-pp", nil), want) {
		t.Error("the parameters change nothing")
	}
	both := build(t, "der-pp+gmed", values{"der-pp.alpha": 0.2, "gmed.alpha": 0.02, "gamma": 0.3}).(*composed)
	d, g := both.rehearsal.Parts[0].(rehearsal.Distill), both.rehearsal.Parts[1].(rehearsal.GMED)
	if *d.Alpha != 0.2 || *g.Alpha != 0.02 || *g.Gamma != 0.3 {
		t.Errorf("α of %g and %g, γ of %g; want 0.2, 0.02, 0.3", *d.Alpha, *g.Alpha, *g.Gamma)
	}
	for _, c := range []struct {
		name    string
		params  values
		reasons []string
	}{
		{"der-pp+gmed", values{"alpha": 0.1}, []string{`"alpha"`, "der-pp.alpha", "gmed.alpha"}},
		{"emgd-gmc+der-pp", values{"alpha": 0.1, "der-pp.alpha": 0.2}, []string{"der-pp.alpha is given twice"}},
		{"emgd-gmc+der-pp", values{"gamma": 0.1}, []string{`no parameter "gamma"`, "emgd-gmc.tau", "der-pp.alpha", "rescale"}},
		{"emgd-gmc+der-pp", values{"mir.gamma": 0.1}, []string{`no parameter "mir.gamma"`}},
		{"emgd-gmc+der-pp", values{"alpha": -1}, []string{"der-pp", "alpha"}},
		{"emgd-gmc+der-pp", values{"draws": "three"}, []string{"der-pp.draws", "three"}},
		{"emgd-gmc+der-pp", values{"tau": -1}, []string{"tau"}},
		{"emgd-gmc+mir", values{"candidates": 0}, []string{"candidates", "out of range"}},
		{"emgd-gmc+icarl", values{"pool": 0.0}, []string{"pool", "out of range"}},
	} {
		_, err := New(c.name, c.params)
		for _, reason := range append(c.reasons, c.name) {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s %v: error %v, want one with %q", c.name, c.params, err, reason)
			}
		}
	}
}

// TestTypedCompositions: Make makes what New makes of the names.
func TestTypedCompositions(t *testing.T) {
	rescaled := func(declaration any, mode string) Method {
		m, err := Make(declaration)
		must(t, err)
		m, err = Rescale(m, mode)
		must(t, err)
		return m
	}
	type parts = []rehearsal.Part
	for _, c := range []struct {
		declaration any
		parts       parts
		name        string
		params      values
	}{
		{EMGDGMC{Tau: 10}, parts{rehearsal.Distill{Alpha: new(.5)}}, "emgd-gmc+der-pp", values{"tau": 10, "alpha": .5}},
		{EMGDGMC{Tau: "auto"}, parts{rehearsal.Distill{Draws: "one"}}, "emgd-gmc+der-pp", values{"tau": "auto", "draws": "one"}},
		{EMGDGS{}, parts{rehearsal.Distill{Rows: "apart", Beta: new(0.0)}}, "emgd-gs+der-pp", values{"rows": "apart", "beta": 0}},
		{DERPP{Alpha: new(.2)}, parts{rehearsal.Herding{Pool: 20}, rehearsal.NearestMean{}}, "der-pp+herding+ncm", values{"alpha": .2, "pool": 20}},
		{UPGrad{}, parts{rehearsal.GSS{ScoreAll: true}, rehearsal.MIR{}}, "upgrad+gss+mir", values{"score_all": true}},
		{GEM{}, parts{rehearsal.Greedy{}}, "gem+greedy", nil},
		{rescaled(EMGDGMC{}, "mean"), parts{rehearsal.Distill{}}, "emgd-gmc+der-pp", values{"rescale": "mean"}},
		{rescaled(DERPP{}, "match_avg"), parts{rehearsal.Herding{}}, "der-pp+herding", values{"rescale": "match_avg"}},
		{build(t, "emgd-gmc+der-pp", nil), parts{rehearsal.Herding{}}, "emgd-gmc+der-pp+herding", nil},
	} {
		got, err := Make(c.declaration, c.parts...)
		must(t, err)
		typed := got.(*composed)
		for i, p := range typed.rehearsal.Parts {
			typed.rehearsal.Parts[i], err = params.Filled(p)
			must(t, err)
		}
		if want := build(t, c.name, c.params); !same(got, want) {
			t.Errorf("%+v is not %s with %v", c.declaration, c.name, c.params)
		}
	}
	for _, c := range []struct {
		declaration any
		part        rehearsal.Part
		reason      string
	}{
		{DERPP{}, rehearsal.ICaRL{}, "both set the memory loss"},
		{GDumb{}, rehearsal.MIR{}, "no training steps"},
		{EMGDGMC{Tau: -1}, rehearsal.MIR{}, "tau"},
		{EMGDGMC{}, rehearsal.MIR{Candidates: .5}, "candidates"},
		{ER{}, rehearsal.PerTask{}, "one memory row"},
		{EMGDGMC{}, rehearsal.Distill{Alpha: new(0.0), Beta: new(0.0)}, "alpha and beta"},
		{EMGDGMC{}, nil, "nil"},
		{nil, rehearsal.MIR{}, "nil"},
	} {
		if _, err := Make(c.declaration, c.part); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%+v: error %v, want one with %q", c.declaration, err, c.reason)
		}
	}
}

// TestRescaleOfCompositions: Σw and the mean gradient are those of the rows that the rule sees.
func TestRescaleOfCompositions(t *testing.T) {
	rows := [][]float64{{3, 0, 1}, {1, 1, 0}, {0, 2, 1}}
	s := several{memory: 2, rows: rows, halves: [2][][]float64{rows, rows}, losses: []float64{1, 1, 1}}
	for _, mode := range []string{"native", "mean", "match_avg"} {
		w := weigh(t, build(t, "emgd-gmc+der-pp", values{"rescale": mode}), s.step(1))
		want := weigh(t, build(t, "emgd-gmc", values{"rescale": mode}), s.summed().step(1))
		if !near(w, []float64{want[0], want[0], want[1]}, 1e-12) {
			t.Errorf("rescale=%s: %v, want %v", mode, w, want)
		}
	}
	for _, name := range []string{"emgd-gmc+der-pp", "der-pp+herding"} {
		m := build(t, name, values{"rescale": "mean"})
		curator, ok := As[rehearsal.Curator](m)
		if _, objective := As[rehearsal.Objective](m); !ok || !objective || m.Info().SumW != "1" || m.Info().Name != name {
			t.Errorf("%s rescaled is %+v with the curator %v", name, m.Info(), curator)
		}
	}
}
