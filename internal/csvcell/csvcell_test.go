package csvcell

import (
	"math"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		v      any
		digits int
		want   string
	}{
		{nil, 6, ""}, {math.NaN(), -1, ""}, {1.0 / 3, 6, "0.333333"}, {0.1, -1, "0.1"}, {1.0 / 3, -1, "0.3333333333333333"},
		{7, 6, "7"}, {"a", -1, "a"}, {math.Inf(1), 6, "+Inf"},
	} {
		if got := Text(c.v, c.digits); got != c.want {
			t.Errorf("Text(%v, %d) = %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}
