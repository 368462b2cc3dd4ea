package cli

import (
	"testing"
	"time"
)

// TestPace: the time that is left follows from the work done since the first run began. Runs that
// were finished before do not count, and a run of four epochs counts as four runs of one.
func TestPace(t *testing.T) {
	at := time.Unix(0, 0)
	p := &pace{work: []float64{1, 1, 1, 4}, total: 7, made: map[int]float64{}, now: func() time.Time { return at }}
	expect := func(want string) {
		t.Helper()
		if got := p.text(", "); got != want {
			t.Errorf("after %v: %q, want %q", at.Sub(time.Unix(0, 0)), got, want)
		}
	}
	p.end(0) // it was finished before
	expect("")
	p.begin(1)
	expect("")
	at = at.Add(30 * time.Second)
	p.reach(1, 0.5)
	expect(", 6 min left") // 5.5 of 6 at a minute each
	p.end(1)
	p.begin(3)
	at = at.Add(30 * time.Second)
	expect(", 5 min left")
	p.begin(2)
	p.reach(3, 0.5)
	p.reach(2, 0.25)
	at = at.Add(135 * time.Second)
	expect(", 3 min left") // 3.25 of 6 in 195 s
	p.end(2)
	p.end(3)
	expect("")
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
