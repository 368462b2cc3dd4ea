package alike

import (
	"strings"
	"testing"
)

// TestHint: a name that is there in another form is shown in both.
func TestHint(t *testing.T) {
	for _, c := range []struct{ name, there, want string }{
		{"caf\u00e9", "cafe\u0301", `"caf\u00e9" and "cafe\u0301" are one name in two forms of Unicode`},
		{"\u1112\u1161\u11ab", "\ud55c", "two forms of Unicode"}, // Hangul
		{"Cat", "cat", `"Cat" and "cat" look alike`},
		{"cat", "dog", ""}, {"cat", "cat", ""},
	} {
		if got := Hint(c.name, []string{"other", c.there}); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+q, %+q: %q, want %q", c.name, c.there, got, c.want)
		}
	}
}
