package rehearsal

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestFields: the tags of every part can be read, its choices have the default among them, and a part with the
// defaults that the tags declare makes the rehearsal that its zero value makes.
func TestFields(t *testing.T) {
	for _, p := range All() {
		name, defaults := p.Info().Name, map[string]any{}
		for _, f := range Fields(p) {
			defaults[f.Name] = f.Default
			if f.Doc == "" || f.Choices != nil && !slices.Contains(f.Choices, f.Default.(string)) {
				t.Errorf("%s.%s: default %v, choices %v, %q", name, f.Name, f.Default, f.Choices, f.Doc)
			}
		}
		if n := reflect.TypeOf(p).NumField(); n != len(defaults) {
			t.Errorf("%s has %d fields and %d parameters", name, n, len(defaults))
		}
		filled, err := With(p, defaults)
		must(t, err)
		if got, want := made(t, filled), made(t, p); !reflect.DeepEqual(got, want) {
			t.Errorf("%s with its defaults makes %+v, its zero value %+v", name, got, want)
		}
	}
}

// made is the rehearsal of one part, or of a part with stored logits that it needs, but for functions, which cannot
// be compared.
func made(t *testing.T, p Part) *Rehearsal {
	t.Helper()
	parts := []Part{p}
	if p.Info().Axes[0] == Targets {
		parts = append(parts, Distill{})
	}
	r, err := New(parts...)
	must(t, err)
	r.Parts, r.Draw, r.Rank, r.Renew = nil, nil, nil, nil
	return r
}

// TestWith sets fields by their names, a zero by its pointer, and refuses a zero that stands for the default.
func TestWith(t *testing.T) {
	given := Distill{Beta: new(0.25)}
	got, err := With(given, map[string]any{"alpha": 0.0, "rows": "apart"})
	must(t, err)
	if _, err := With(given, map[string]any{"alpha": 0.5, "aplha": 1.0}); err == nil || !strings.Contains(err.Error(), `no parameter "aplha"`) {
		t.Errorf("a mistyped name: error %v", err)
	}
	if d := got.(Distill); *d.Alpha != 0 || *d.Beta != 0.25 || d.Rows != "apart" || d.Draws != "" || given.Alpha != nil || given.Rows != "" {
		t.Errorf("made %+v of %+v", d, given)
	}
	if got, err := With(GMED{}, map[string]any{"decay": 0.0}); err != nil || got.(GMED).Decay != 0 {
		t.Errorf("a zero that is the default: %+v (%v)", got, err)
	}
	for name, p := range map[string]Part{"candidates": MIR{}, "sharpness": Angular{}, "lr": Retrain{}} {
		if _, err := With(p, map[string]any{name: 0.0}); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%s=0: error %v", name, err)
		}
	}
	if f := filled(given); *f.Alpha != 0.3 || *f.Beta != 0.25 || f.Draws != "two" || f.Rows != "joined" || given.Alpha != nil {
		t.Errorf("%+v filled is %+v", given, f)
	}
}

// TestPartsByPointer: a part may be given by a pointer, whose struct stays as it is.
func TestPartsByPointer(t *testing.T) {
	given := &Distill{Rows: "apart"}
	got, err := With(given, map[string]any{"alpha": 0.25})
	must(t, err)
	if d := got.(Distill); *d.Alpha != 0.25 || d.Rows != "apart" || given.Alpha != nil || len(Fields(given)) != len(Fields(Distill{})) {
		t.Errorf("made %+v of %+v", got, given)
	}
	if got, err := With(given, map[string]any{"alpha": 1}); err != nil || *got.(Distill).Alpha != 1 {
		t.Errorf("a whole number: %+v (%v)", got, err)
	}
	for want, alpha := range map[string]any{"1 has the type string; want float64": "1", "<nil>": nil} {
		if _, err := With(given, map[string]any{"alpha": alpha}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("alpha = %v: %v", alpha, err)
		}
	}
	for _, p := range []Part{nil, (*Distill)(nil)} {
		if _, err := With(p, nil); err == nil || !strings.Contains(err.Error(), "a part is a struct") {
			t.Errorf("%v: %v", p, err)
		}
	}
	if _, err := New(Herding{}, nil); err == nil || !strings.Contains(err.Error(), "part 2 of the rehearsal is nil") {
		t.Errorf("a part that is nil: %v", err)
	}
}

type hidden struct {
	Distill
	n float64 `param:"n" default:"1"`
}

// TestHiddenParameters: a parameter that nobody could set is a mistake in the part.
func TestHiddenParameters(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "not exported") {
			t.Errorf("recovered %v", r)
		}
	}()
	Fields(hidden{n: 1})
}

// TestLossesThatContradictThemselves are refused.
func TestLossesThatContradictThemselves(t *testing.T) {
	for want, l := range map[string]Loss{
		"unknown kind": {Kind: 9}, "Scale": {Scale: -1}, "Distill": {Distill: math.NaN()}, "Temperature": {Teacher: 1}, "Seen": {Own: true, Seen: true},
		"Sharpness": {Cosine: true}, "reference": {Teacher: 1, Temperature: 2, Distill: 1},
	} {
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", l, err, want)
		}
	}
}
