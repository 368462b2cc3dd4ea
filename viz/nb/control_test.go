//go:build unix

package nb

import (
	"slices"
	"strings"
	"testing"
)

// A button is pressed by every turn of a page, and by nothing that says only that there is a page
// or none.
func TestButton(t *testing.T) {
	pressed := make(chan int, 10)
	b := control{Kind: "button", every: true, moves: make(chan int, 10), call: func(p int) { pressed <- p }}
	for _, said := range []int{0, 1, places, 0, 2 * places, places, 1, 3*places + 1} { // two pages count for themselves
		b.heard(said)
	}
	if n := len(b.moves); n != 3 {
		t.Errorf("pressed %d times, want 3", n)
	}
}

// Of moves that come while a call runs, the next call gets the last one, in whatever order the
// messages arrive. A panic ends its call only.
func TestLastMoveCounts(t *testing.T) {
	var got []float64
	begun, going := make(chan bool), make(chan bool)
	c := control{Kind: "range", last: 9, moves: make(chan int, 1), call: func(place int) {
		got = append(got, atStep(0.1, 0.1, place))
		begun <- true
		<-going
		if place == 2 {
			panic("no")
		}
	}}
	done := make(chan bool)
	go func() {
		for place := range c.moves {
			c.move(place)
		}
		close(done)
	}()
	c.heard(1*places + 2)
	<-begun
	for _, said := range []int{2*places + 3, 5*places + 9, 4*places + 4, 5*places + 8, 6*places + 10, 7*places - 1} {
		c.heard(said)
	}
	going <- true
	<-begun
	going <- true
	close(c.moves)
	<-done
	if want := []float64{0.3, 1}; !slices.Equal(got, want) || c.place != 9 {
		t.Errorf("called with %v, at place %d; want %v", got, c.place, want)
	}
}

func TestControlsShowWords(t *testing.T) {
	shown, stderr := notebook(t, "controls")
	if stderr != "" {
		t.Errorf("printed: %s", stderr)
	}
	var pages []string
	for _, d := range shown {
		if page := pageOf(d); page != "" {
			pages = append(pages, page)
		}
	}
	if len(pages) != 3 {
		t.Fatalf("%d displays, want 3", len(pages))
	}
	for i, want := range []string{">[a]</span>", ">τ &lt;1&gt;: 0.1 to 3</span>", ">rule: one, &lt;two&gt;</span>"} {
		t.Run(want, func(t *testing.T) {
			counted(t, pages[i], map[string]int{want: 1, "Works in JupyterLab": 1, "<script": 1, "<input": 0, "KEYS": 0})
		})
	}
	if strings.Contains(strings.Join(pages, ""), "CONTROLS") {
		t.Error("a script has no controls")
	}
}
