package report

import "testing"

// TestSpecialLinesWithinGo: a line that begins with % or ! may belong to a string or a comment.
func TestSpecialLinesWithinGo(t *testing.T) {
	for source, want := range map[string]string{
		"x := `\n%%\n` + y":      "x := <u>`\n%%\n`</u> + y",
		"/*\n!ls\n*/\n!pwd\nz()": "<i>/*\n!ls\n*/</i>\n<em>!pwd</em>\nz()",
		"!ls\n%%\nfoo(1)":        "<em>!ls</em>\n<em>%%</em>\nfoo(<s>1</s>)",
		"a := `\n%1\n!2":         "a := <u>`\n%1\n!2</u>",
	} {
		if got := string(coloured(source, "go")); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
