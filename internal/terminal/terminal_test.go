package terminal

import (
	"bytes"
	"regexp"
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

// TestTasks: what happens side by side stands in one line, a finished task is left out, and a note
// stays above it.
func TestTasks(t *testing.T) {
	var out bytes.Buffer
	all := &Tasks{line: NewLine(&out), begin: time.Now(), stop: make(chan struct{})} // without a ticker
	all.line.live, all.line.every = true, 0
	a, b := all.New("a"), all.New("b")
	a.Count("building", 3, 10)
	b.Write([]byte("first\n1 of 2 MB\n"))
	all.Note("%s", "hello")
	a.Count("", 0, 0)
	all.Close()
	one, two := "T | a: building, 3 of 10", "T | a: building, 3 of 10 | b: 1 of 2 MB"
	want := wipe + one + wipe + two + wipe + "hello\n" + wipe + "T | b: 1 of 2 MB" + wipe
	if got := regexp.MustCompile(`\d+:\d\d`).ReplaceAllString(out.String(), "T"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	silent := NewTasks(nil)
	silent.New("a").Count("building", 1, 2)
	silent.Note("hello")
	silent.Close()
}

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		took       time.Duration
		done, rest float64
		want       string
	}{
		{time.Second, 1, 1, ""},   // too early
		{time.Minute, 0, 1, ""},   // nothing is done
		{time.Minute, 1, 100, ""}, // too little
		{time.Minute, 1, 0, ""},   // all is done
		{time.Minute, 1, 2, ", about 2:00 left"},
		{95 * time.Second, 5, 3, ", about 0:57 left"},
	} {
		if got := Left(c.took, c.done, c.rest); got != c.want {
			t.Errorf("Left(%v, %v, %v) is %q, want %q", c.took, c.done, c.rest, got, c.want)
		}
	}
}
