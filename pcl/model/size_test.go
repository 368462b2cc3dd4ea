package model

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestAbsurdSizes: networks that no machine holds, whose number of parameters may overflow, are
// refused, and those without size.
func TestAbsurdSizes(t *testing.T) {
	for _, sizes := range [][3]int{{1 << 40, 1 << 40, 2}, {1 << 31, 1 << 32, 2}, {1 << 26, 1 << 26, 2}, {3, 2, 1 << 62},
		{0, 4, 5}, {6, 4, 0}, {6, 0, 5}, {6, -1, 5}} {
		if m, err := NewMLP(sizes[0], []int{sizes[1]}, sizes[2]); err == nil {
			t.Errorf("an MLP %v has %d parameters", sizes, m.Layout().Total)
		}
	}
	for _, c := range []Sizes{
		{Height: 1 << 22, Width: 1 << 22, Channels: 1 << 22, StemChannels: 1, Outputs: 2},
		{Height: 2, Width: 2, Channels: 1, StemChannels: 1 << 61, Outputs: 2},
		{Height: 2, Width: 2, Channels: 1, StemChannels: 1 << 22, Outputs: 2},
		{Height: 7, Width: 8, Channels: 1, StemChannels: 2, Outputs: 3},
		{Height: 8, Width: 0, Channels: 1, StemChannels: 2, Outputs: 3},
		{Height: 8, Width: 8, StemChannels: 2, Outputs: 3}, {Height: 8, Width: 8, Channels: 1, StemChannels: -1, Outputs: 3},
		{Height: 8, Width: 8, Channels: 1, StemChannels: 2},
	} {
		if m, err := NewResNet18(c); err == nil {
			t.Errorf("a ResNet-18 %+v has %d parameters and %d inputs", c, m.Layout().Total, m.Inputs())
		}
	}
	small := must.Get(NewMLP(4, []int{3}, 2))(t).(Resizer)
	if m, err := small.WithOutputs(1 << 50); err == nil {
		t.Errorf("grown, it is %s", m.Key())
	}
}
