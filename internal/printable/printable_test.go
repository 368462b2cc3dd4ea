package printable

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"plain, naïve, 語, 👩‍🔬, a\tb\nc":       "plain, naïve, 語, 👩‍🔬, a\tb\nc",
		"\x1b[2J\x1b]0;title\a":               `\x1b[2J\x1b]0;title\a`,
		"\u009b31mred":                        `\u009b31mred`,
		"one\rtwo\x7f\x00":                    `one\rtwo\x7f\x00`,
		"file\u202egnp.exe\u2066\ufeff":       `file\u202egnp.exe\u2066\ufeff`,
		"a\u2028b\U000e0001":                  `a\u2028b\U000e0001`,
		"latin1 \xe9\x9b, cut \xe8\xaa":       `latin1 \xe9\x9b, cut \xe8\xaa`,
		"the replacement character \ufffd is": "the replacement character \ufffd is",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line(" a\r\n b\tc\x1b[A "), `a b c\x1b[A`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestError(t *testing.T) {
	if Error(nil) != nil {
		t.Error("no error became one")
	}
	err := Error(fmt.Errorf("the server says \x1b[31m: %w", fs.ErrNotExist))
	if err.Error() != `the server says \x1b[31m: file does not exist` || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q", err)
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		bad := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
		if bad >= 0 || !utf8.ValidString(got) || Text(got) != got {
			t.Errorf("%q becomes %q", s, got)
		}
		if strings.ContainsAny(Line(s), "\n\t\r") {
			t.Errorf("%q has lines", Line(s))
		}
	})
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd…", "aääb": "aä…",
		"日日": "日…"} {
		if got := Cut(in, 4); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
