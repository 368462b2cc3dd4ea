package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	mlpKey    = regexp.MustCompile(`^mlp-(\d{1,9})-\[((?:\d{1,9} ?){0,64})\]-(\d{1,9})$`)
	resnetKey = regexp.MustCompile(`^resnet18-(\d{1,5})x(\d{1,5})x(\d{1,5})-(\d{1,5})-(\d{1,9})(-release)?(-imagenet)?$`)
)

// ByKey returns the network of this package that has the given [Model].Key, for example
// "mlp-784-[128 64]-62".
func ByKey(key string) (Model, error) {
	inner, bf16 := strings.CutSuffix(key, "-bf16")
	m, err := byKey(inner)
	if err != nil {
		return nil, err
	}
	if bf16 {
		m = BFloat16(m)
	}
	if m.Key() != key {
		return nil, unknownKey(key)
	}
	return m, nil
}

func byKey(key string) (Model, error) {
	if k := mlpKey.FindStringSubmatch(key); k != nil {
		return NewMLP(number(k[1]), numbers(k[2]), number(k[3]))
	}
	if k := resnetKey.FindStringSubmatch(key); k != nil {
		return NewResNet18(Sizes{
			Height: number(k[1]), Width: number(k[2]), Channels: number(k[3]),
			StemChannels: number(k[4]), Outputs: number(k[5]), Release: k[6] != "",
			Stem: strings.TrimPrefix(k[7], "-"),
		})
	}
	return nil, unknownKey(key)
}

func unknownKey(key string) error {
	return fmt.Errorf("model: %q is not the key of an MLP or ResNet-18 of this package: make the model, and give it to "+
		"pcl.NewPredictor with pcl.LoadNetwork", key)
}

// number reads digits that a regular expression has matched.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func numbers(s string) (all []int) {
	for _, f := range strings.Fields(s) {
		all = append(all, number(f))
	}
	return all
}
