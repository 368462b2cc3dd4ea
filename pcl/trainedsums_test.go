package pcl

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// TestSumsInFile: a classifier of sums comes back from a file; one without a tensor that fits is
// refused.
func TestSumsInFile(t *testing.T) {
	n := &Network{
		Model: "mlp-2-[]-2", Increment: "class", OtherScorer: true, Tasks: []TaskInfo{{ID: 1, Classes: []int{4, 7}}},
		Tensors: []safetensors.Tensor{{Name: "classifier/bias", Dims: []int{2}, Values: []float32{1, 2}}},
		Sums: &analytic.Map{
			Classes: []int{4, 7}, Projection: [][]float32{{1, -1, 1}, {-1, -1, 1}}, Divide: 16, Unit: true,
			Weights: [][]float64{{1, 2}, {3, 4}, {5, 6}}, Added: []float64{-1, .5},
		},
	}
	f := must.Get(n.file())(t)
	back := must.Get(trainedOf(f))(t)
	if d := cmp.Diff(n.Sums, back.Sums); d != "" || len(back.Tensors) != 1 || !back.OtherScorer {
		t.Errorf("%s, tensors %v", d, back.Tensors)
	}
	for i := 1; i < len(f.Tensors)-1; i++ {
		short := *f
		short.Tensors = append(append([]safetensors.Tensor{}, f.Tensors[:i]...), f.Tensors[i+1:]...)
		_, err := trainedOf(&short)
		refused(t, err, "classifier of sums for 2 classes")
	}
	wide := *f
	wide.Tensors = append([]safetensors.Tensor{}, f.Tensors...)
	wide.Tensors[3].Dims = []int{3, 2}
	_, err := trainedOf(&wide)
	refused(t, err, "classifier of sums for 2 classes")
}
