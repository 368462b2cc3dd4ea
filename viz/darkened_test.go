package viz

import (
	"fmt"
	"testing"
)

// TestDarkened: what figures draw in Light becomes on dark screens what they draw in Dark, but for rounding.
func TestDarkened(t *testing.T) {
	var names []string
	for _, name := range append([]string{"mine", "yours", "theirs"}, order...) {
		names = append(names, name, name+"+1", name+"+2")
	}
	light, dark := Light.Methods(names...), Dark.Methods(names...)
	for _, name := range names {
		if got, want := darkened(light[name].Color), dark[name].Color; distance(got, want) > 12 {
			t.Errorf("%s becomes %v, want %v", name, got, want)
		}
	}
	for i := range 101 {
		x := float64(i) / 100
		for what, pair := range map[string]pairOfColors{
			"sequential": {Light.sequential(x), Dark.sequential(x)}, "diverging": {Light.diverging(2*x - 1), Dark.diverging(2*x - 1)},
			"stream": {Light.Stream(i, 101), Dark.Stream(i, 101)}, "angle": {Light.angle(2*x - 1), Dark.angle(2*x - 1)},
		} {
			if got := darkened(pair.light); distance(got, pair.dark) > 4 {
				t.Errorf("%s of %g becomes %v, want %v", what, x, got, pair.dark)
			}
		}
	}
	if got := fmt.Sprint(darkened(rgb(0x123456))); got == fmt.Sprint(rgb(0x123456)) {
		t.Error("a dark colour stays dark on dark screens")
	}
}
