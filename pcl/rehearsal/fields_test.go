package rehearsal

import (
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// TestFields: the tags of every part can be read, and a part with the
// defaults that the tags declare makes the rehearsal that its zero value makes.
func TestFields(t *testing.T) {
	for _, p := range All() {
		name, defaults := p.Info().Name, map[string]any{}
		for _, f := range params.Of(p) {
			defaults[f.Name] = f.Default
			if f.Doc == "" {
				t.Errorf("%s.%s has no doc", name, f.Name)
			}
		}
		if n := reflect.TypeOf(p).NumField(); n != len(defaults) {
			t.Errorf("%s has %d fields and %d parameters", name, n, len(defaults))
		}
		filled, err := params.With(p, defaults)
		must.Do(t, err)
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
	must.Do(t, err)
	r.Parts, r.Draw, r.Shares, r.Rank, r.Renew = nil, nil, nil, nil, nil
	return r
}

// TestPartsByPointer: a part may be given by a pointer, whose struct stays as it is; one that is nil is refused.
func TestPartsByPointer(t *testing.T) {
	given := &Distill{Rows: "apart"}
	if r, err := New(given); err != nil || !r.Apart || given.Alpha != nil {
		t.Errorf("made %+v of %+v (%v)", r, given, err)
	}
	if _, err := New(Herding{}, nil); err == nil {
		t.Errorf("a part that is nil: %v", err)
	}
	if _, err := New(&MIR{Candidates: .5}); err == nil {
		t.Errorf("out of range: %v", err)
	}
}

// TestLossesThatContradictThemselves are refused.
func TestLossesThatContradictThemselves(t *testing.T) {
	for want, l := range map[string]Loss{
		"unknown kind": {Kind: 9}, "Temperature": {Teacher: 1}, "Seen": {Own: true, Seen: true},
		"Sharpness": {Cosine: true}, "reference": {Teacher: 1, Temperature: 2, Distill: 1},
	} {
		if err := l.Validate(); err == nil {
			t.Errorf("%+v: error %v, want %q in it", l, err, want)
		}
	}
}
