package results

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzRun: whatever a result says, there is no panic, an error says something, and what is read can
// be told of, and written and read again.
func FuzzRun(f *testing.F) {
	// The seeds are small: the fuzzer takes a minute to minimise each large one.
	const rest = `"A":50,"A_first":50,"tasks":[{"id":1,"acc_end":0.5,"acc_final":0.5}]}`
	for _, text := range []string{
		`{"schema":1,` + rest, `{"schema":1,"id":"` + IDOf([]byte(`{"method":"er"}`)) +
			`","config":{"method":"er"},"method":"er",` + rest, `{"schema":1,"id":"x","config":{"method":"er"},` + rest,
		`{"schema":1,"tasks":[{"id":1}],"curve":[{"acc":[null]}]}`,
		`{"schema":1,"tasks":[{"id":1,"classes":[1],"by_class":[{"class":1}]}]}`, `{"Schema":1}`, `null`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("the error says nothing")
			}
			return
		}
		r.Remarks()
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(again); err != nil {
			t.Errorf("what was read of %s is not read again: %v", text, err)
		}
	})
}

// FuzzRecords: likewise the lines of a file of records.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{`{"step":0,"ids":[1],"losses":[2.5],"weights":[1]}` + "\n",
		`{"ids":[1,2],"gram":[1,0,1]}`, `{"ids":[null]}`, "{}\n{", ``} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadRecords(strings.NewReader(text))
		if err != nil && !strings.Contains(err.Error(), "record") {
			t.Errorf("error %v", err)
		}
		for _, r := range all {
			if len(r.Gram) != 0 && len(r.Gram) != len(r.IDs)*len(r.IDs) {
				t.Errorf("%d inner products of %d rows", len(r.Gram), len(r.IDs))
			}
		}
	})
}
