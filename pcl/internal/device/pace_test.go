package device

import (
	"testing"
	"time"
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
			t.Errorf("%s: %d of %d steps on one client", c.name, onOne, steps)
		}
	}
}
