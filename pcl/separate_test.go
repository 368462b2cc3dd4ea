package pcl

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestEveryMethodSeparate makes a few steps with each method on a device of its own memory, where what the host
// decides on is read once: they are those of the device that is read in place, but for the Gram matrix's
// rounding.
func TestEveryMethodSeparate(t *testing.T) {
	backends := [2]*backend.Backend{pcltest.Backend(t, backend.XLACPU), pcltest.Separate(t)}
	var programs [2]*Programs
	for i, b := range backends {
		programs[i] = NewPrograms(b.Backend)
		defer programs[i].Close()
	}
	for _, name := range method.Names() {
		t.Run(name, func(t *testing.T) {
			var ends [2][]float32
			for i, on := range backends {
				l := trained(t, on, newMethod(t, name, nil), Options{Increment: scenario.ClassIncremental, Programs: programs[i]})
				defer l.Close()
				for range 3 {
					if _, err := l.Step(); err != nil {
						t.Fatal(err)
					}
				}
				var err error
				if ends[i], err = l.Parameters(); err != nil {
					t.Fatal(err)
				}
			}
			apart, size := 0.0, 0.0
			for p, x := range ends[0] {
				apart += math.Pow(float64(x-ends[1][p]), 2)
				size += float64(x) * float64(x)
			}
			if !(math.Sqrt(apart) <= 1e-4*math.Sqrt(size)) {
				t.Errorf("parameters differ by %g of their length", math.Sqrt(apart/size))
			}
		})
	}
}
