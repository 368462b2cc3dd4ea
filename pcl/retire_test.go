package pcl

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// TestCandidates: how many samples of each class are collected for a memory that takes 3 of each.
func TestCandidates(t *testing.T) {
	for name, want := range map[string]int{
		"avggrad":         3, // as many as the memory takes
		"gss":             0, // fills the memory itself
		"avggrad+gss+ewc": 1, // for the penalty alone
	} {
		t.Run(name, func(t *testing.T) {
			m := must.Get(method.Start(newMethod(t, name, nil)))(t)
			got := candidates(m, 3)
			if name == "avggrad+gss+ewc" {
				want = m.Penalty.Samples()
			}
			if got != want {
				t.Errorf("%d samples of each class; want %d", got, want)
			}
		})
	}
}
