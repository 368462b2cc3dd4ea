package features

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/must"
)

func TestEncode(t *testing.T) {
	for name, c := range map[string]struct {
		values []float32
		want   []uint8
	}{
		"lengths are divided out": {[]float32{0.01, 0.01, 0.7, 0.7141428}, []uint8{10, 10, 255, 255}},
		"tiny":                    {[]float32{1e-30, 0, 1e-30}, []uint8{255, 0, 255}},
		"huge":                    {[]float32{3e38, 3e37}, []uint8{255, 101}}, // 1020·0.0995
		"below zero":              {[]float32{-5, 0, 1}, []uint8{0, 0, 255}},
		"halves go up":            {slices.Repeat([]float32{1}, 8), slices.Repeat([]uint8{255}, 8)},
		"many":                    {slices.Repeat([]float32{2}, 10000), slices.Repeat([]uint8{10}, 10000)},
	} {
		got := make([]uint8, len(c.values))
		if err := Encode(got, c.values); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	for name, values := range map[string][]float32{
		"nothing above zero": {0, -1}, "no values": {}, "NaN": {float32(math.NaN()), 1},
		"infinite": {1, float32(math.Inf(1))},
	} {
		if err := Encode(make([]uint8, len(values)), values); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCodes: the value that a data set delivers for a byte is read back as this byte, for all of
// them.
func TestCodes(t *testing.T) {
	all, got, sample := make([]uint8, 256), make([]uint8, 256), make([]float32, 256)
	for i := range all {
		all[i] = uint8(i)
	}
	fp.Units(sample, all)
	must.Do(t, Codes(got, sample))
	if !slices.Equal(got, all) {
		t.Errorf("read back: %v", got)
	}
	for name, v := range map[string]float32{"below": -1. / 255, "above": 256. / 255, "between": 0.5,
		"NaN": float32(math.NaN())} {
		if err := Codes(got, []float32{v}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
