package pcl

import (
	"errors"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/method"
)

type rule func(s *method.Step) error

func (rule) Info() method.Info { return method.Info{Name: "rule"} }
func (r rule) Weights(s *method.Step, _ []float64) (method.Outcome, error) {
	return method.Outcome{}, r(s)
}

// TestFieldsThatWereNotAskedFor: a method that reads a field for which its Info does not ask is told so.
func TestFieldsThatWereNotAskedFor(t *testing.T) {
	for what, want := range map[string]struct {
		rule rule
		text string
	}{
		"reads": {func(s *method.Step) error { _ = s.Gram[0]; return nil }, "it panicked: runtime error: index out of range [0] with length 0 " +
			"(Step.Gram is nil without Info.NeedsGram, Step.Cross is nil without Info.NeedsCross)"},
		"panics": {func(*method.Step) error { panic("no") }, "it panicked: no"},
		"fails":  {func(*method.Step) error { return errors.New("no") }, "no"},
	} {
		_, err := ask(want.rule, &method.Step{IDs: []int{1}, Rows: [][]float64{{1}}}, make([]float64, 1))
		if err == nil || err.Error() != want.text {
			t.Errorf("%s: %v, want %s", what, err, want.text)
		}
	}
	_, err := ask(rule(func(s *method.Step) error { _ = s.Rows[1]; return nil }), &method.Step{Gram: []float64{1}, Rows: [][]float64{{1}}, Cross: []float64{1}}, nil)
	if err == nil || strings.Contains(err.Error(), "nil without") {
		t.Errorf("all was asked for: %v", err)
	}
}
