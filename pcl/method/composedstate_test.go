package method

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// stepOf3 is a step of the memory and two tasks.
func stepOf3() *Step {
	return sample{rows: [][]float64{{3, 4}, {1, -2}, {0, 1}}, losses: []float64{1, 2, 3}}.step(1)
}

// TestStateOfARuleAlone: a composition whose parts remember nothing has the state of its rule, as
// it always had.
func TestStateOfARuleAlone(t *testing.T) {
	rule, composition := build(t, "emgd-gmc", nil), build(t, "emgd-gmc+der-pp+er-ace", nil)
	weigh(t, rule, stepOf3())
	weigh(t, composition, stepOf3())
	want := must.Get(stateful(t, rule).MarshalState())(t)
	got := must.Get(stateful(t, composition).MarshalState())(t)
	if string(got) != string(want) {
		t.Errorf("the state is %s, that of the rule alone %s", got, want)
	}
	if _, ok := as[Stateful](t, build(t, "mgda+der-pp", nil)); ok {
		t.Error("a composition that remembers nothing has a state")
	}
}

// TestStateOfBoth: the states of a rule and a part are saved together and restored, and an end
// reaches the rule.
func TestStateOfBoth(t *testing.T) {
	const penalty = `{"stiffness":"AAAAAAAA8D8=","anchor":"AACAPw=="}` // one parameter: 1, 1
	made := func(name string) remembering { return stateful(t, build(t, name, nil)) }
	a, b := made("emgd-gmc+ewc"), made("emgd-gmc+ewc")
	weigh(t, a, stepOf3())
	saved := must.Get(a.MarshalState())(t)
	var read composedState
	must.Do(t, json.Unmarshal(saved, &read))
	switch {
	case len(read.Parts) != 1:
		t.Errorf("len(read.Parts) is %d; want 1", len(read.Parts))
	case string(read.Parts[0]) != `{}`:
		t.Errorf("string(read.Parts[0]) is %q; want %q", string(read.Parts[0]), `{}`)
	case !strings.Contains(string(read.Rule), `"1"`):
		t.Errorf("string(read.Rule) is %q; want %q in it", string(read.Rule), `"1"`)
	}
	read.Parts[0] = json.RawMessage(penalty)
	saved = must.Get(json.Marshal(read))(t)
	must.Do(t, b.UnmarshalState(saved))
	again := must.Get(b.MarshalState())(t)
	if string(again) != string(saved) {
		t.Errorf("restored %s, then it is %s", saved, again)
	}
	b.End(1)
	if again = must.Get(b.MarshalState())(t); strings.Contains(string(again), `"1"`) ||
		!strings.Contains(string(again), penalty) {
		t.Errorf("after the end of stream 1 the state is %s", again)
	}
	alone := made("mgda+ewc")
	must.Do(t, alone.UnmarshalState(json.RawMessage(`{"parts": [`+penalty+`]}`)))
	if got, _ := alone.MarshalState(); string(got) != `{"parts":[`+penalty+`]}` {
		t.Errorf("without a state of the rule it is %s", got)
	}
}

// TestStatesThatAreRefused are of other parts or of another rule, or damaged.
func TestStatesThatAreRefused(t *testing.T) {
	for name, states := range map[string][]string{
		"mgda+ewc": {`{"parts": []}`, `{"parts": [{}, {}]}`, `{"rule": {"1": 3}, "parts": [{}]}`,
			`{"parts": [{"anchor": 3}]}`},
		"emgd-gmc+ewc": {`{"rule": 3, "parts": [{}]}`, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, state := range states {
				if err := stateful(t, build(t, name, nil)).UnmarshalState(json.RawMessage(state)); err == nil {
					t.Errorf("%s takes up %s", name, state)
				}
			}
		})
	}
}
