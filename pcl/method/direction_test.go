package method

import (
	"strings"
	"testing"
)

// TestCheckDirection: a direction must be there if the method's Info has Direct, and only then, and be as long as a row.
func TestCheckDirection(t *testing.T) {
	for _, c := range []struct {
		direct bool
		d      []float64
		text   string
	}{
		{true, []float64{1, 2}, ""},
		{false, nil, ""},
		{true, nil, "no Outcome.Direction"},
		{false, []float64{1, 2}, "needs Direct"},
		{true, []float64{1}, "of 1 entries; the rows have 2"},
	} {
		err := (&Outcome{Direction: c.d}).CheckDirection(Info{Name: "own", Direct: c.direct}, 2)
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("Direct %v, direction %v: error %v, want %q", c.direct, c.d, err, c.text)
		}
	}
}
