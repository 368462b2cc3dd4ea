package device

import (
	"testing"
	"time"

	"github.com/gomlx/compute"
)

// TestPace: whichever of one client and all is faster makes nearly all steps, also when that
// changes.
func TestPace(t *testing.T) {
	p := pace{steps: paceEvery - paceFirst}
	for _, c := range []struct {
		name     string
		all, one time.Duration
		mostly   bool // on one
	}{
		{"idle cores", 5, 9, false}, {"busy cores", 12, 9, true}, {"idle again", 5, 9, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			onOne := 0
			const steps = 10 * paceEvery
			for i := range steps {
				one := p.one()
				took := c.all
				if one {
					onOne++
					took = c.one
				}
				if i%5 == 0 {
					took *= 20 // a step that compiled something, say
				}
				p.took(one, took)
			}
			if mostly := onOne > steps/2; mostly != c.mostly || onOne > steps/10 && onOne < steps*8/10 {
				t.Errorf("%d of %d steps on one client", onOne, steps)
			}
		})
	}
}

// TestPacesOfDifferentWork: a method that asks for gradients twice in a step, which are more rows
// the first time, is as fast on all clients as it can be.
func TestPacesOfDifferentWork(t *testing.T) {
	have := func(n int, flat compute.Buffer) []*Row {
		rows := make([]*Row, n)
		for i := range rows {
			rows[i] = &Row{Flat: flat}
		}
		return rows
	}
	done := struct{ compute.Buffer }{}
	for _, c := range []struct {
		name          string
		first, second []*Row // the first time tasks', the second time those and the memory's
	}{
		{"two rows of the memory", have(3, nil), append(have(3, done), have(2, nil)...)},
		{"as many as tasks", have(2, nil), append(have(2, done), have(2, nil)...)},
		{"more than tasks", have(2, nil), append(have(2, done), have(4, nil)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, onOne := paces{}, 0
			const steps = 10 * paceEvery
			for range steps {
				for _, rows := range [][]*Row{c.first, c.second} {
					p, each, left := all.of(rows), time.Duration(10), 0
					one := p.one()
					if one {
						onOne, each = onOne+1, 18
					}
					for _, r := range rows {
						if r.Flat == nil {
							left++
						}
					}
					p.took(one, each*time.Duration(left))
				}
			}
			if onOne > steps/10 {
				t.Errorf("%d of %d calls on one client", onOne, 2*steps)
			}
		})
	}
	if p := (paces{}).of(append(have(3, done), have(1, nil)...)); p != nil {
		t.Error("a single row has a pace")
	}
}
