package memory

import (
	"reflect"
	"slices"
	"testing"
)

// TestSetBudget: a smaller budget keeps the first samples of each class, a larger one takes more from then on, and one
// that stays changes nothing, not even the draws.
func TestSetBudget(t *testing.T) {
	for policy, want := range map[Policy][]float32{PerClass: {100, 101, 102, 103, 200, 201, 202, 203}, FixedTotal: {100, 101, 200, 201}} {
		s := newStore(t, policy, 12)
		s.items = candidates(0, 12, 1, 2)
		s.Draw(3)
		order := slices.Clone(s.order)
		if err := s.SetBudget(12); err != nil || !slices.Equal(s.order, order) || s.next != 3 || s.Len() != 24 {
			t.Errorf("%s: the same budget: %v, %d samples, at %d", policy, err, s.Len(), s.next)
		}
		if err := s.SetBudget(4); err != nil || !reflect.DeepEqual(s.Pixels(), want) {
			t.Errorf("%s: a budget of 4: %v, %v", policy, err, s.Pixels())
		}
		if err := s.SetBudget(40); err != nil || s.Len() != len(want) || s.Quota([]int{1, 2}) != map[Policy]int{PerClass: 40, FixedTotal: 20}[policy] {
			t.Errorf("%s: a budget of 40: %v, %d samples", policy, err, s.Len())
		}
		for range 2 { // then it is empty already
			if err := s.SetBudget(0); err != nil || s.Len() != 0 || s.Draw(2) != nil {
				t.Errorf("%s: a budget of 0: %v, %d samples", policy, err, s.Len())
			}
		}
		if err := s.SetBudget(-1); err == nil || s.config.Budget != 0 {
			t.Errorf("%s: a negative budget: %v", policy, err)
		}
	}
}
