package report

import "testing"

// TestSpecialLinesWithinGo: a line that begins with % or ! may belong to a string or a comment.
func TestSpecialLinesWithinGo(t *testing.T) {
	for source, want := range map[string]string{
		"x := `\n%%\n` + y":      "x := <span class=\"s\">`\n%%\n`</span> + y",
		"/*\n!ls\n*/\n!pwd\nz()": "<span class=\"c\">/*\n!ls\n*/</span>\n<span class=\"m\">!pwd</span>\nz()",
		"!ls\n%%\nfoo(1)":        "<span class=\"m\">!ls</span>\n<span class=\"m\">%%</span>\nfoo(<span class=\"n\">1</span>)",
		"a := `\n%1\n!2":         "a := <span class=\"s\">`\n%1\n!2</span>",
	} {
		if got := string(coloured(source, "go")); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
