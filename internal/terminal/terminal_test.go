package terminal

import (
	"bytes"
	"testing"
	"time"
)

// TestLine: elsewhere than on a terminal lines are seconds apart; on one, a text takes the place of
// the one before, and is removed.
func TestLine(t *testing.T) {
	for live, want := range map[bool]string{false: "b\n", true: wipe + "b" + wipe} {
		var out bytes.Buffer
		l := NewLine(&out)
		l.live = live
		l.Show("a") // too early
		l.last = l.last.Add(-time.Minute)
		l.Show("%s", "b")
		l.Show("c")
		l.Close()
		if out.String() != want {
			t.Errorf("terminal %t: %q, want %q", live, out.String(), want)
		}
	}
	silent := NewLine(nil)
	silent.Show("d")
	silent.Close()
}
