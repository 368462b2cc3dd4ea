package cli

import (
	"testing"
	"time"
)

// TestPace: the time that is left follows from the work done between first and last steps. Runs that
// were finished before do not count, and a run of four epochs counts as four runs of one. What comes
// before the first step counts for each run but the first.
func TestPace(t *testing.T) {
	at := time.Unix(0, 0)
	p := &pace{work: []float64{1, 1, 1, 4}, total: 7, made: map[int]*stint{}, now: func() time.Time { return at }}
	after := func(seconds int, want string) {
		t.Helper()
		at = time.Unix(int64(seconds), 0)
		if got := p.text(", "); got != want {
			t.Errorf("after %d s: %q, want %q", seconds, got, want)
		}
	}
	reach := func(seconds, i int, share float64) {
		at = time.Unix(int64(seconds), 0)
		p.reach(i, share)
	}
	p.end(0) // it was finished before
	after(0, "")
	p.begin(1)
	reach(60, 1, 0.1) // which are seconds of compiling
	after(60, "")
	reach(84, 1, 0.5)
	after(84, ", 6 min left") // 5.5 epochs at a minute each
	at = time.Unix(114, 0)
	p.end(1)
	p.begin(3)
	after(114, ", 5 min left")
	reach(134, 3, 0) // it took 20 s to the first step, and one run is still to come
	reach(254, 3, 0.5)
	after(254, ", 3 min left") // 3 epochs and 20 s
	p.begin(2)
	reach(264, 2, 0)
	reach(294, 2, 0.5)
	reach(294, 3, 0.625)
	after(294, ", 2 min left") // 2 epochs, of which some are made side by side
	p.end(2)
	p.end(3)
	after(294, "")
	var none *pace
	none.begin(0)
	none.reach(0, 1)
	if text := none.text(", "); text != "" {
		t.Error(text)
	}
	if got := roughly(3 * time.Hour); got != "3.0 h" {
		t.Error(got)
	}
}
