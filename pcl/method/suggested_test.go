package method

import "testing"

func TestSuggested(t *testing.T) {
	for typed, want := range map[string]string{
		"emgd-gcm": " (did you mean emgd-gmc?)", "avgrad": " (did you mean avggrad?)", "upgradd": " (did you mean upgrad?)",
		"mega-3": "", // mega-1 or mega-2
		"x":      "", "": "", "something": "",
	} {
		if got := suggested(typed, Names()); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	if got := suggested("derpp", PartNames()); got != " (did you mean der-pp?)" {
		t.Errorf("derpp: %q", got)
	}
}
