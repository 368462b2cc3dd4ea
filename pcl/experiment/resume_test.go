package experiment

import (
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestGoesOnHere: what XLA began on one kind of processor goes on with another only where both use AVX2.
func TestGoesOnHere(t *testing.T) {
	const (
		zen4, zen4Narrow = "AMD EPYC (family 25 model 17 stepping 1, AVX-512)", "AMD EPYC (family 25 model 17 stepping 1, AVX2)"
		zen3, xeon       = "AMD EPYC (family 25 model 1 stepping 1, AVX2)", "Intel(R) Xeon(R) (family 6 model 106 stepping 6, AVX-512, L1 48 KB)"
	)
	for _, c := range []struct {
		then, now, backend string
		refused            bool
	}{
		{zen4, zen4, "xla-cpu", false}, {zen4, zen4Narrow, "xla-cpu", true}, {zen4Narrow, zen4, "xla-cpu", true}, {zen4, xeon, "xla-cpu", true},
		{zen4Narrow, zen3, "xla-cpu", false}, {zen4, xeon, "go", false}, {"AMD EPYC", zen3, "xla-cpu", false},
	} {
		err := goesOnHere(results.Maker{Backend: c.backend, Device: c.then}, results.Maker{Backend: c.backend, Device: c.now})
		if (err != nil) != c.refused {
			t.Errorf("%s: %s, then %s: error %v", c.backend, c.then, c.now, err)
		}
	}
}
