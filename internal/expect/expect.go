// Package expect has the checks of tests that every package needs: an error that must be the right
// one, and an error's text in a message. The test goes on.
package expect

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Refusal checks that an error arrived and that it is the right one: a want is a word of its text,
// or an error that it wraps. The first argument behind the test says what was tried.
func Refusal(t testing.TB, what string, err error, wants ...any) {
	t.Helper()
	if fault := fault(err, wants); fault != "" {
		t.Errorf("%s: %s", what, fault)
	}
}

// fault says what is wrong with an error.
func fault(err error, wants []any) string {
	if err == nil {
		return fmt.Sprintf("no error; want %q", wants)
	}
	for _, want := range wants {
		ok := false
		switch want := want.(type) {
		case string:
			ok = strings.Contains(err.Error(), want)
		case error:
			ok = errors.Is(err, want)
		default:
			panic(fmt.Sprintf("expect: a want is a %T; want a text or an error", want))
		}
		if !ok {
			return fmt.Sprintf("error %q; want %q", err, want)
		}
	}
	return ""
}

// Text is an error's text in the message of a test. Without an error it says so.
func Text(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
