package report

import (
	"strings"
	"testing"
)

// TestSpecialLinesWithinGo: a line that begins with % or ! may belong to a string or a comment.
func TestSpecialLinesWithinGo(t *testing.T) {
	for source, want := range map[string]string{
		"x := `\n%%\n` + y":      "x := <span class=\"s\">`\n%%\n`</span> + y",
		"/*\n!ls\n*/\n!pwd\nz()": "<span class=\"c\">/*\n!ls\n*/</span>\n<span class=\"m\">!pwd</span>\nz()",
		"!ls\n%%\nfoo(1)":        "<span class=\"m\">!ls</span>\n<span class=\"m\">%%</span>\nfoo(<span class=\"n\">1</span>)",
		"a := `\n%1\n!2":         "a := <span class=\"s\">`\n%1\n!2</span>",
	} {
		if got := string(colourGo(source)); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

// TestSentence: a text without spaces is shortened, not left out.
func TestSentence(t *testing.T) {
	if got, want := sentence(strings.Repeat("字", most+1)), strings.Repeat("字", most)+"…"; got != want {
		t.Errorf("got %q", got)
	}
	if got := sentence(strings.Repeat("ab ", most)); !strings.HasSuffix(got, "ab …") || len(got) > most+4 {
		t.Errorf("got %q", got)
	}
}
