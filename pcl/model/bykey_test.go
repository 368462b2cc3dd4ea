package model

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestByKey(t *testing.T) {
	mlp := must.Get(NewMLP(784, []int{128, 64}, 62))(t)
	linear := must.Get(NewMLP(4, nil, 2))(t)
	for _, want := range []Model{
		mlp, linear, BFloat16(mlp), newResNet18(t, Sizes{Height: 8, Width: 16, Channels: 3, Outputs: 5}),
		newResNet18(t, Sizes{Height: 8, Width: 8, Channels: 1, StemChannels: 2, Outputs: 5, Release: true}),
		newResNet18(t, Sizes{Height: 7, Width: 9, Channels: 3, StemChannels: 2, Outputs: 5, Stem: StemImageNet}),
	} {
		got, err := ByKey(want.Key())
		if err != nil || got.Key() != want.Key() || got.Layout().Total != want.Layout().Total {
			t.Errorf("%s: %v, %v", want.Key(), got, err)
		}
	}
	for _, key := range []string{
		"", "mlp", "mlp-4-[3]-0", "mlp-04-[3]-2", "mlp-4-[3 ]-2", "mlp-4-[3]-2-bf16-bf16", "mlp-99999999999999999999-[1]-1",
		"resnet18-7x8x1-2-5", "resnet18-8x8x1-0-5", "resnet18-8x8x1-2-5-x", "resnet18-8x8x1-2-5-small",
		"vit-4-[3]-2", "mlp-999999999-[999999999]-9", "resnet18-8x8x1-99999-999999999",
	} {
		if m, err := ByKey(key); err == nil {
			t.Errorf("%q gives %s", key, m.Key())
		}
	}
}
