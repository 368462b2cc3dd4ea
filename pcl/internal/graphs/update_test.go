package graphs

import (
	"testing"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// TestMatricesOfAResNet: all kernels but the first one, each with a column per output channel, and not the classifier.
func TestMatricesOfAResNet(t *testing.T) {
	net, err := model.NewResNet18(model.ResNetConfig{Height: 32, Width: 32, Channels: 3, Base: 8, Outputs: 10})
	if err != nil {
		t.Fatal(err)
	}
	list := (&Set{Spec: Spec{Model: net}}).matrices()
	if last := list[len(list)-1]; len(list) != 19 || list[0].Rows != 9*8 || list[0].Columns != 8 || last.Columns != 64 {
		t.Errorf("%d matrices, first %v, last %v", len(list), list[0], last)
	}
}
