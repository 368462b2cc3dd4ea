package pcl

import (
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// TestClassCounts: samples are counted for their class, whatever the order of the classes.
func TestClassCounts(t *testing.T) {
	c := newCounts([]int{7, 5})
	b := &device.Batch{Batch: data.Batch{Class: []int{5, 7, 5}, N: 3}, Output: []int32{1, 0, 1}}
	c.add(b, []int32{1, 1, 0})
	c.add(b, []int32{1})
	if want := []ClassCount{{Class: 7, Test: 1}, {Class: 5, Test: 3, Right: 2}}; !slices.Equal(c.of, want) {
		t.Errorf("counts %v; want %v", c.of, want)
	}
}
