package nb

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"

	"github.com/parallelcl/parallelcl/viz/internal/script"
)

// Button is a labelled button in a notebook, which calls Press when it is pressed, also after its
// cell has ended. In stock GoNB it works only until then.
type Button struct {
	Label string
	Press func()
}

// Buttons shows a row of buttons. Each runs one call at a time, in a goroutine of its own. Only a
// hand presses them: without a browser, as when a notebook is executed headless, nothing happens.
// They work in JupyterLab. VS Code and exported pages do not reach the kernel, and show their
// labels.
func Buttons(buttons ...Button) error {
	var row []*control
	for _, b := range buttons {
		row = append(row, &control{Kind: "button", Label: b.Label, last: 0, every: true, call: func(int) { b.Press() }})
	}
	return showControls(row...)
}

// Range shows a slider from min to max, which calls moved with the number to which a reader moves
// it, also after its cell has ended. It begins at start or, without one, at min.
//
//	live := nb.NewLive()
//	nb.Range("temperature", 0.1, 3, 0.1, func(t float64) { live.Show(figure(t)) })
//
// One call runs at a time. Of the numbers that come meanwhile, the next call gets the last one.
// Where the slider works is said at [Buttons].
func Range(label string, min, max, step float64, moved func(float64), start ...float64) error {
	steps := math.Floor((max-min)/step + 1e-9)
	begin := math.Round((append(start, min)[0] - min) / step)
	if !(step > 0 && steps >= 1 && steps < places && begin >= 0 && begin <= steps) {
		return report(fmt.Errorf("nb: range %q from %g to %g by %g, beginning at %g: want at least one step, fewer than "+
			"%d, and a beginning among them", label, min, max, step, append(start, min)[0], places))
	}
	return showControls(&control{Kind: "range", Label: label, Min: min, Max: max, Step: step, last: int(steps),
		place: int(begin), call: func(place int) { moved(atStep(min, step, place)) }})
}

// atStep is the number at a step, without the digits that the multiplication adds.
func atStep(min, step float64, place int) float64 {
	x := min + float64(place)*step
	if short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64); err == nil {
		return short
	}
	return x
}

// Choose shows a list of choices, of which the first is chosen, and calls chosen with the one that
// a reader chooses. Otherwise it is like [Range].
func Choose(label string, choices []string, chosen func(string)) error {
	if len(choices) == 0 || len(choices) > places {
		return report(fmt.Errorf("nb: choice %q of %d texts; want 1 to %d", label, len(choices), places))
	}
	return showControls(&control{Kind: "choice", Label: label, Choices: choices, last: len(choices) - 1,
		call: func(place int) { chosen(choices[place]) }})
}

// control is an element of a page that a hand moves from place to place: a step of a range, a
// choice, or the one place of a button. Its exported fields are for the page.
type control struct {
	Kind, Label    string
	Min, Max, Step float64
	Choices        []string
	Address        string // of what the page and the program say to each other

	last  int // place
	every bool
	call  func(place int)

	mu    sync.Mutex
	place int
	turn  int      // of the last move
	moves chan int // of which the next call takes one
}

// What a page says is a turn and a place in one number, since messages may overtake each other.
// Turns count from 1. The number 1 asks where the control stands; 0 comes where there is no page.
const places = 1 << 20

// heard takes what a page says. A button is pressed by every turn; of other turns the last counts.
func (c *control) heard(said int) {
	turn, place := said/places, said%places
	c.mu.Lock()
	now, late := c.place, turn <= c.turn
	if turn > 0 && place <= c.last && !c.every && !late {
		c.turn, c.place = turn, place
		select {
		case <-c.moves: // nobody has taken it
		default:
		}
		c.moves <- place
	}
	c.mu.Unlock()
	switch {
	case said == 1:
		comms.Send(c.Address, now)
	case turn > 0 && place <= c.last && c.every:
		c.moves <- place
	}
}

// move calls the user's code, of which a panic ends only this call.
func (c *control) move(place int) {
	defer func() {
		if p := recover(); p != nil {
			report(fmt.Errorf("nb: %s %q: %w", c.Kind, c.Label, panicked(p)))
		}
	}()
	c.call(place)
}

//go:embed control.js
var controlScript string

// controlNote stands in the place of controls that do not work.
const controlNote = "Works in JupyterLab while the kernel runs that has run this cell; VS Code and exported pages do " +
	"not reach it."

// showControls shows a row of controls: their words, until the page's script reaches the program.
func showControls(row ...*control) error {
	if !inNotebook() {
		return nil
	}
	var words strings.Builder
	for _, c := range row {
		c.Address, c.moves = "/pcl/"+gonbui.UniqueId(), make(chan int, 1)
		comms.Subscribe(c.Address, func(_ string, said int) { c.heard(said) })
		background(func() {
			for place := range c.moves {
				c.move(place)
			}
		})
		fmt.Fprintf(&words, `<span style="margin-right:1em">%s</span>`, html.EscapeString(c.words()))
	}
	data, err := json.Marshal(row)
	if err != nil {
		return report(err)
	}
	source := strings.NewReplacer("KEYS", script.Keys, "PLACES", fmt.Sprint(places), "CONTROLS", string(data)).
		Replace(script.Short(controlScript))
	return report(showHTML(fmt.Sprintf(`<div class="pcl-controls">%s<em>%s</em></div>`+
		`<script data-optional>%s</script>`, words.String(), controlNote, source), "", ""))
}

// words say what the control is.
func (c *control) words() string {
	switch c.Kind {
	case "range":
		return fmt.Sprintf("%s: %g to %g", c.Label, c.Min, c.Max)
	case "choice":
		return c.Label + ": " + strings.Join(c.Choices, ", ")
	}
	return "[" + c.Label + "]"
}
