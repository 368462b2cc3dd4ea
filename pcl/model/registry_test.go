package model_test

import (
	"fmt"
	"log"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// A network of layers of GoMLX, which `pcl run --model wide` knows in a program that registers it
// and calls cli.Main.
func ExampleRegister() {
	model.Register("wide", func(s model.Sizes) (model.Model, error) {
		return model.NewScoped("wide", s.Inputs(), s.Outputs, func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
			return activation.Gelu(layers.DenseWithBias(scope.In("hidden"), x, 512))
		})
	})
	m, err := model.New("wide", model.Sizes{Height: 28, Width: 28, Channels: 1, Outputs: 62})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range m.Layout().Params {
		fmt.Println(p.Name, p.Dims)
	}
	// Output:
	// hidden/dense/weights [784 512]
	// hidden/dense/biases [512]
	// classifier/weights [512 62]
	// classifier/bias [62]
}

func TestRegister(t *testing.T) {
	sizes := model.Sizes{Height: 4, Width: 4, Channels: 1, Outputs: 3, Hidden: []int{5}}
	if m, err := model.New("mlp", sizes); err != nil || m.Key() != "mlp-16-[5]-3" {
		t.Errorf("the MLP is %v, %v", m, err)
	}
	model.Register("stubborn", func(model.Sizes) (model.Model, error) { return model.NewMLP(7, []int{5}, 3) })
	for _, name := range []string{"stubborn", "none"} {
		if _, err := model.New(name, sizes); err == nil {
			t.Errorf("%s is made", name)
		}
	}
	for name, twice := range map[string]string{"mlp": "mlp", "nameless": ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			model.Register(twice, func(model.Sizes) (model.Model, error) { return nil, nil })
		}()
	}
}
