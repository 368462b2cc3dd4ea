package rehearsal

import (
	"slices"
	"testing"
)

// TestRefusals: parts that cannot be joined are refused in either order.
func TestRefusals(t *testing.T) {
	for _, parts := range [][]Part{
		{ERACE{}, Angular{}}, {ERACE{}, ICaRL{}}, {Adjust{}, ERACE{}}, {EWC{}, SI{}}, {Balanced{}, MIR{}}, {Balanced{}, PerTask{}}, {Extend{}, Refresh{}}, // both set the same
		{Adjust{}, LwF{}}, {Adjust{}, Distill{Draws: "one"}}, {LwF{}, ICaRL{}}, // the losses do not fit
		{LwF{}, GMEDRelease{}}, {ICaRL{}, GMEDRelease{}}, // both remember the model
		{GSS{}, MIR{BestLoss: true}}, {Extend{}, MIR{}}, {Refresh{}, Distill{Alpha: new(0.0)}}, // what is stored
		{Adjust{Tau: new(-1.0)}, MIR{}}, {LwF{Weight: new(-1.0)}, ERACE{}}, {LwF{Temperature: 1e9}, ERACE{}}, {EWC{Decay: new(2.0)}, MIR{}}, {EWC{Samples: 0.5}, MIR{}},
		{SI{Xi: -1}, MIR{}}, {SI{Rows: "both"}, MIR{}}, {Extend{Gamma: new(1.1)}, Distill{}},
	} {
		for range 2 {
			if _, err := New(parts...); err == nil {
				t.Errorf("%s and %s are joined", parts[0].Info().Name, parts[1].Info().Name)
			}
			slices.Reverse(parts)
		}
	}
}

// TestTeacherWithAnyTaskLoss: the distillation of lwf stays whatever sets the tasks' loss, before it or after it.
func TestTeacherWithAnyTaskLoss(t *testing.T) {
	for _, other := range []Part{ERACE{}, Angular{}} {
		for _, parts := range [][]Part{{LwF{}, other}, {other, LwF{}}} {
			r, err := New(parts...)
			if err != nil {
				t.Fatal(err)
			}
			if l := (objective{r}).Loss(3); l.Teacher != 1 || l.Temperature != 2 || !l.Own && !l.Cosine {
				t.Errorf("%s: the tasks' loss is %+v", nameOf(r), l)
			}
			if l := (objective{r}).Loss(Memory); l.Teacher != 0 {
				t.Errorf("%s: the memory's loss is %+v", nameOf(r), l)
			}
		}
	}
}

// TestAdjustedLosses: all cross-entropies are adjusted, whatever part sets them, and no other loss.
func TestAdjustedLosses(t *testing.T) {
	for _, parts := range [][]Part{{Adjust{}, Distill{}}, {Distill{}, Adjust{}}, {Adjust{}}, {Adjust{}, MIR{}, Herding{}}} {
		r, err := New(parts...)
		if err != nil {
			t.Fatal(err)
		}
		o := objective{r}
		if o.Loss(3).Adjust != 1 || o.Loss(Memory).Adjust != 1 || len(r.Rows) > 1 && o.Loss(stored) != (Loss{Kind: StoredLogits, Scale: 0.3}) {
			t.Errorf("%s: losses %+v, %+v, %+v", nameOf(r), o.Loss(3), o.Loss(Memory), o.Loss(stored))
		}
	}
	if r, err := New(Adjust{Tau: new(0.0)}); err != nil || len(r.Roles()) != 0 {
		t.Errorf("with τ = 0 there are roles %v, %v", r.Roles(), err)
	}
}

// TestEveryPart: its description is complete, it joins with its defaults, alone or with what it says it needs, and
// its name is its own.
func TestEveryPart(t *testing.T) {
	met := map[string]bool{}
	for _, p := range All() {
		i := p.Info()
		if i.Name == "" || i.Title == "" || i.Does == "" || i.Source == "" || i.Cost == "" || i.State == "" || len(i.Axes) == 0 || met[i.Name] {
			t.Errorf("%T is described as %+v", p, i)
		}
		met[i.Name] = true
		parts := []Part{p}
		if i.Axes[0] == Targets {
			parts = append(parts, Distill{})
		}
		if _, err := New(parts...); err != nil {
			t.Errorf("%s alone: %v", i.Name, err)
		}
	}
}

func nameOf(r *Rehearsal) (name string) {
	for _, p := range r.Parts {
		name += "+" + p.Info().Name
	}
	return name
}
