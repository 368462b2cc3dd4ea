package rehearsal

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// TestRefusals: parts that cannot be joined are refused in either order.
func TestRefusals(t *testing.T) {
	for _, parts := range [][]Part{
		// both set the same
		{&ERACE{}, &AngularMargin{}}, {&ERACE{}, &ICaRL{}}, {&LogitAdjustment{}, &ERACE{}}, {&EWC{}, &SI{}},
		{&BalancedReplay{}, &MIR{}}, {&BalancedReplay{}, &PerTask{}}, {&ExtendLogits{}, &RefreshLogits{}},
		// the losses do not fit
		{&LogitAdjustment{}, &LwF{}}, {&LogitAdjustment{}, &Distill{Draws: "one"}}, {&LwF{}, &ICaRL{}},
		{&LwF{}, &GMEDRelease{}}, {&ICaRL{}, &GMEDRelease{}}, // both remember the model
		// what is stored
		{&GSS{}, &MIR{BestLoss: true}}, {&ExtendLogits{}, &MIR{}}, {&RefreshLogits{}, &Distill{Alpha: new(0.0)}},
		{&LogitAdjustment{Tau: new(-1.0)}, &MIR{}}, {&LwF{Weight: new(-1.0)}, &ERACE{}}, {&LwF{Temperature: 1e9}, &ERACE{}},
		{&EWC{Decay: new(2.0)}, &MIR{}}, {&EWC{Samples: 0.5}, &MIR{}},
		{&SI{Xi: -1}, &MIR{}}, {&SI{Rows: "both"}, &MIR{}}, {&ExtendLogits{Gamma: new(1.1)}, &Distill{}},
		{&MIR{Candidates: .5}, &LwF{}},
	} {
		for range 2 {
			if _, err := New(parts...); err == nil {
				t.Errorf("%T and %T are joined", parts[0], parts[1])
			}
			slices.Reverse(parts)
		}
	}
}

// setting is a part that is not registered and sets what its function sets.
type setting struct{ set func(*Rehearsal) }

func (s *setting) Join(r *Rehearsal) error {
	s.set(r)
	return nil
}

// TestUnregisteredPartsConflict: a field that two parts set is refused, whether they are registered
// or not, and flags add up.
func TestUnregisteredPartsConflict(t *testing.T) {
	part := func(set func(*Rehearsal)) Part { return &setting{set} }
	draw := part(func(r *Rehearsal) { r.Draw = drawBalanced })
	task := part(func(r *Rehearsal) { r.Task.Scale = 2 })
	rows := part(func(r *Rehearsal) { r.Rows = append(r.Rows, Row{ID: -7}) })
	teacher := part(func(r *Rehearsal) { r.Teacher, r.Temperature, r.Remember = 1, 2, true })
	flags := part(func(r *Rehearsal) { r.Logits, r.Separate, r.Remember, r.Limits.Classes = true, true, true, true })
	for name, c := range map[string]struct {
		parts []Part
		field string // that both set; empty if they can be joined
	}{
		"Draw twice":            {[]Part{draw, part(func(r *Rehearsal) { r.Draw = (&MIR{}).draw })}, "Draw"},
		"Draw, registered":      {[]Part{&MIR{}, draw}, "Draw"},
		"Task twice":            {[]Part{task, part(func(r *Rehearsal) { r.Task.Own = true })}, "Task"},
		"Task, registered":      {[]Part{task, &ERACE{}}, "Task"},
		"Rows, registered":      {[]Part{&Distill{}, rows}, "Rows"},
		"Store, registered":     {[]Part{&Greedy{}, part(func(r *Rehearsal) { r.Store = storing(storeGreedily) })}, "Store"},
		"Predict":               {[]Part{part(func(r *Rehearsal) { r.Predict = &nearestMean{} }), &NearestMean{}}, "Predict"},
		"Teacher":               {[]Part{teacher, &LwF{}}, "Teacher"},
		"different fields":      {[]Part{draw, task, rows, flags, teacher}, ""},
		"flags":                 {[]Part{flags, &LwF{}, &Distill{}}, ""},
		"a part that sets none": {[]Part{part(func(*Rehearsal) {}), draw, part(func(*Rehearsal) {})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(c.parts...)
			switch {
			case c.field == "" && (err != nil || !r.Remember && name != "a part that sets none"):
				t.Errorf("New returns %v, %v; want what all parts set", r, err)
			case c.field != "" && (err == nil || !strings.Contains(err.Error(), "both set "+c.field+" ")):
				t.Errorf("New returns %v; want an error that names %s", err, c.field)
			}
		})
	}
}

// TestTeacherWithAnyTaskLoss: the distillation of lwf stays whatever sets the tasks' loss, before
// it or after it.
func TestTeacherWithAnyTaskLoss(t *testing.T) {
	for _, other := range []Part{&ERACE{}, &AngularMargin{}} {
		for _, parts := range [][]Part{{&LwF{}, other}, {other, &LwF{}}} {
			o := objective{must.Get(New(parts...))(t)}
			switch l := o.Loss(3); {
			case l.Teacher != 1:
				t.Errorf("%T: l.Teacher is %g; want 1", other, l.Teacher)
			case l.Temperature != 2:
				t.Errorf("%T: l.Temperature is %g; want 2", other, l.Temperature)
			case !l.Own && !l.Cosine, o.Loss(memoryRow).Teacher != 0:
				t.Errorf("%T: the tasks' loss is %+v, the memory's %+v", other, l, o.Loss(memoryRow))
			}
		}
	}
}

// TestAdjustedLosses: all cross-entropies are adjusted, whatever part sets them, and no other loss.
func TestAdjustedLosses(t *testing.T) {
	for _, parts := range [][]Part{{&LogitAdjustment{}, &Distill{}}, {&Distill{}, &LogitAdjustment{}},
		{&LogitAdjustment{}}, {&LogitAdjustment{}, &MIR{}, &Herding{}}} {
		r := must.Get(New(parts...))(t)
		o := objective{r}
		if o.Loss(3).Adjust != 1 || o.Loss(memoryRow).Adjust != 1 ||
			len(r.Rows) > 1 && o.Loss(stored) != (Loss{StoredLogits: true, Scale: 0.3}) {
			t.Errorf("%T: losses %+v, %+v, %+v", parts, o.Loss(3), o.Loss(memoryRow), o.Loss(stored))
		}
	}
}

// TestLeftOut: a part whose weight is 0 adds nothing; a part gets its defaults.
func TestLeftOut(t *testing.T) {
	for _, part := range []Part{&LogitAdjustment{Tau: new(0.0)}, &EWC{Lambda: new(0.0)}, &SI{C: new(0.0)},
		&LwF{Weight: new(0.0)}} {
		if roles := must.Get(New(part))(t).Roles(); roles != (Roles{}) {
			t.Errorf("%+v has the roles %v", part, roles)
		}
	}
	given := &Distill{Rows: "apart"}
	switch r := must.Get(New(given))(t); {
	case !r.Separate:
		t.Error("r.Separate is false")
	case given.Alpha == nil:
		t.Error("given.Alpha is nil")
	case *given.Alpha != 0.3:
		t.Errorf("*given.Alpha is %g; want 0.3", *given.Alpha)
	}
}

// TestEveryPart: its description is complete, its tags can be read, it joins alone or with the
// stored logits that it needs, and with the defaults that its tags declare it makes the rehearsal
// that its zero value makes.
func TestEveryPart(t *testing.T) {
	for _, name := range slices.DeleteFunc(Names(), func(name string) bool { return name == "choosing" }) {
		part := must.Get(Find(name))(t)
		i, defaults := Describe(part), map[string]any{}
		switch {
		case i.Name != name:
			t.Errorf("i.Name is %q; want %q", i.Name, name)
		case i.Title == "":
			t.Error("i.Title is empty")
		case i.Does == "":
			t.Error("i.Does is empty")
		case i.Source == "":
			t.Error("i.Source is empty")
		case i.Cost == "":
			t.Error("i.Cost is empty")
		case i.State == "":
			t.Error("i.State is empty")
		case len(i.Axes) == 0:
			t.Error("len(i.Axes) is 0")
		}
		for _, f := range params.Of(part) {
			defaults[f.Name] = f.Default
			if f.Doc == "" {
				t.Errorf("%s.%s has no doc", name, f.Name)
			}
		}
		if n := reflect.TypeOf(part).Elem().NumField(); n != len(defaults) {
			t.Errorf("%s has %d fields and %d parameters", name, n, len(defaults))
		}
		full := must.Get(Find(name))(t)
		must.Do(t, params.Set(full, defaults))
		if got, want := made(t, full), made(t, part); !reflect.DeepEqual(got, want) {
			t.Errorf("%s with its defaults makes %+v, its zero value %+v", name, got, want)
		}
	}
}

// made is the rehearsal of one part, or of a part with stored logits that it needs, but for
// functions, which cannot be compared.
func made(t *testing.T, part Part) *Rehearsal {
	t.Helper()
	parts := []Part{part}
	if Describe(part).Axes[0] == "stored logits" {
		parts = append(parts, &Distill{})
	}
	r := must.Get(New(parts...))(t)
	r.Draw, r.Shares, r.Rank, r.UpdateLogits, r.Store = nil, nil, nil, nil, nil
	return r
}

// TestRegister: what contradicts itself, or has a name that is taken, is a mistake of the program.
func TestRegister(t *testing.T) {
	for _, c := range []struct {
		info Info
		part Part
	}{
		{Info{Name: "mir"}, &choosing{}}, {Info{}, &choosing{}}, {Info{Name: "a+b"}, &choosing{}},
		{Info{Name: "axis", Axes: []string{"no axis"}}, &choosing{}},
		{Info{Name: "text"}, text("text")}, {Info{Name: "twice"}, &Distill{}}, {Info{Name: "none"}, nil},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v of %T was registered", c.info, c.part)
				}
			}()
			Register(c.info, func() Part { return c.part })
		})
	}
}

// text is a part that is not a struct.
type text string

func (text) Join(*Rehearsal) error { return nil }

// mine joins in its own way, though the part that it embeds joins too.
type mine struct{ Distill }

func (*mine) Join(r *Rehearsal) error {
	r.Pool = 7
	return nil
}

func TestOwnJoinComesFirst(t *testing.T) {
	switch r, err := New(&mine{}); {
	case err != nil:
		t.Error(err)
	case r.Pool != 7:
		t.Errorf("r.Pool is %d; want 7", r.Pool)
	case r.Logits:
		t.Error("r.Logits is true")
	case Describe(&mine{}).Name != "mine":
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLossesThatContradictThemselves are refused.
func TestLossesThatContradictThemselves(t *testing.T) {
	for _, l := range []Loss{
		{Teacher: 1}, {Own: true, Seen: true}, {Cosine: true}, {Teacher: 1, Temperature: 2, Distill: 1},
	} {
		if l.Validate() == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}
