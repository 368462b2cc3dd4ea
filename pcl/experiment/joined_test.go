package experiment

import (
	"slices"
	"testing"
)

// TestJoined: rows that the rule saw keep their losses, and those that it did not see are part of the first.
func TestJoined(t *testing.T) {
	ids, losses := []int{0, -1, -9, 4, 5}, []float64{1, 2, 4, 8, 16}
	for _, c := range []struct {
		seen []int
		want []float64
	}{
		{[]int{0, 4, 5}, []float64{7, 8, 16}},
		{[]int{0, -9, 4, 5}, []float64{3, 4, 8, 16}}, // a penalty in a row of its own
		{[]int{0, -1, 4, 5}, []float64{5, 2, 8, 16}},
	} {
		if got := joined(ids, c.seen, losses); !slices.Equal(got, c.want) {
			t.Errorf("of rows %v: %v, want %v", c.seen, got, c.want)
		}
	}
	if joined(ids, ids, nil) != nil {
		t.Error("there are losses where there were none")
	}
}
