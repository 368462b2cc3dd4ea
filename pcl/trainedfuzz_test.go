package pcl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// FuzzDescription: whatever description of a network is read can be written, and is then read as
// the same.
func FuzzDescription(f *testing.F) {
	f.Add(
		`{"version":1,"model":"m","steps":3,"increment":"class","image":[1,2,1],"tasks":[{"id":1,"classes":[7,5]}],"outputs":[{"class":7},{"class":5}],"rule":"logits"}`)
	f.Add(
		`{"version":1,"increment":"task","image":[1,2,1],"tasks":[{"id":1,"name":"a","classes":[7]},{"id":2,"classes":[7]}],"outputs":[{"task":1,"class":7},{"task":2,"class":7}],"rule":"other"}`)
	f.Add(
		`{"version":1,"image":[0,0,0],"tasks":[],"outputs":[],"names":{"5":"x"},"scores":{"cosine":true,"sharpness":2},"rule":"nearest-mean","means":{"classes":[5],"tasks":[[1]]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		tensors := []safetensors.Tensor{{Name: "a", Dims: []int{1}, Values: []float32{1}},
			{Name: meansTensor, Dims: []int{1, 2}, Values: []float32{3, 4}}}
		var first *Network
		read := func() error {
			var err error
			first, err = trainedOf(&safetensors.File{Tensors: tensors, Metadata: map[string]string{trainedKey: text}})
			return err
		}
		if read() != nil {
			return
		}
		if diff := cmp.Diff(first, must.Get(trainedOf(must.Get(first.file())(t)))(t), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
