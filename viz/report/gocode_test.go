package report

import "testing"

// TestSpecialLinesWithinGo: a line that begins with % or ! may belong to a string or a comment.
func TestSpecialLinesWithinGo(t *testing.T) {
	for source, want := range map[string]string{
		"x := `\n%%\n` + y":      "x := <u>`\n%%\n`</u> + y",
		"/*\n!ls\n*/\n!pwd\nz()": "<i class=c>/*\n!ls\n*/</i>\n<i class=m>!pwd</i>\nz()",
		"!ls\n%%\nfoo(1)":        "<i class=m>!ls</i>\n<i class=m>%%</i>\nfoo(<i>1</i>)",
		"a := `\n%1\n!2":         "a := <u>`\n%1\n!2</u>",
	} {
		t.Run(source, func(t *testing.T) {
			if got := string(coloured(source, "go")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
