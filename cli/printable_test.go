package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

const escapes = "\x1b[2J\x1b]0;owned\a\u009b31m\u202e"

// printed checks that a text has no escapes but says that they were there.
func printed(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\a\u009b\u202e") || !strings.Contains(text, `\x1b[2J`) {
		t.Errorf("printed %q", text)
	}
}

// Whatever an error quotes, the terminal is not at its mercy.
func TestErrorsArePrintable(t *testing.T) {
	var stderr bytes.Buffer
	if code := exitCode(&runContext{ctx: t.Context(), stderr: &stderr}, errors.New("the file says "+escapes)); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	printed(t, stderr.String())
}

// Anybody may have written what a table tells.
func TestTablesArePrintable(t *testing.T) {
	var out bytes.Buffer
	if err := newTable("NAME", "TITLE").row("odd"+escapes, "title\n").print(&out); err != nil {
		t.Fatal(err)
	}
	printed(t, out.String())
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %q", n, out.String())
	}
}
