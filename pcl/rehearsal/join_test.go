package rehearsal

import (
	"strings"
	"testing"
)

// joining says what two or more parts say of each other.
func joining(parts ...Part) string {
	if _, err := New(parts...); err != nil {
		return err.Error()
	}
	return ""
}

// TestRefusals: parts that cannot be joined say why, in either order.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		parts []Part
		want  string
	}{
		{[]Part{ERACE{}, Angular{}}, "both set the task loss"},
		{[]Part{ERACE{}, ICaRL{}}, "both set the task loss"},
		{[]Part{Adjust{}, ERACE{}}, "both set the task loss"},
		{[]Part{Adjust{}, LwF{}}, "a teacher do not fit"},
		{[]Part{Adjust{}, Distill{Draws: "one"}}, "set draws=two"},
		{[]Part{Adjust{Tau: new(-1.0)}, MIR{}}, "tau"},
		{[]Part{LwF{}, GMEDRelease{}}, "two parts want to remember"},
		{[]Part{ICaRL{}, GMEDRelease{}}, "two parts want to remember"},
		{[]Part{LwF{}, ICaRL{}}, "targets of the old model already"},
		{[]Part{LwF{Weight: new(-1.0)}, ERACE{}}, "weight"},
		{[]Part{LwF{Temperature: 1e9}, ERACE{}}, "temperature"},
		{[]Part{EWC{}, SI{}}, "both set the penalty"},
		{[]Part{EWC{Decay: new(2.0)}, MIR{}}, "decay"},
		{[]Part{EWC{Samples: 0.5}, MIR{}}, "samples"},
		{[]Part{SI{Xi: -1}, MIR{}}, "xi"},
		{[]Part{SI{Rows: "both"}, MIR{}}, "rows"},
		{[]Part{Balanced{}, MIR{}}, "both set the replay"},
		{[]Part{Balanced{}, PerTask{}}, "both set the replay"},
		{[]Part{GSS{}, MIR{BestLoss: true}}, "leave best_loss out"},
		{[]Part{Extend{}, MIR{}}, "add der-pp"},
		{[]Part{Refresh{}, Distill{Alpha: new(0.0)}}, "add der-pp"},
		{[]Part{Extend{}, Refresh{}}, "both set the stored logits"},
		{[]Part{Extend{Gamma: new(1.1)}, Distill{}}, "gamma"},
	} {
		backwards := []Part{c.parts[1], c.parts[0]}
		for _, parts := range [][]Part{c.parts, backwards} {
			if got := joining(parts...); !strings.Contains(got, c.want) {
				t.Errorf("%s and %s: %q, want %q", parts[0].Info().Name, parts[1].Info().Name, got, c.want)
			}
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
				t.Errorf("%s: the tasks' loss is %+v", r.Name(), l)
			}
			if l := (objective{r}).Loss(Memory); l.Teacher != 0 {
				t.Errorf("%s: the memory's loss is %+v", r.Name(), l)
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
			t.Errorf("%s: losses %+v, %+v, %+v", r.Name(), o.Loss(3), o.Loss(Memory), o.Loss(stored))
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
		said := joining(p)
		if i.Axes[0] == Targets {
			said = joining(Distill{}, p)
		}
		if said != "" {
			t.Errorf("%s alone: %s", i.Name, said)
		}
	}
}
