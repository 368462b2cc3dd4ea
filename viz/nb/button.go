package nb

import (
	"fmt"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// Button is a labelled button in a notebook, which calls Press when it is pressed, also after its
// cell has ended. In stock GoNB it works only until then.
type Button struct {
	Label string
	Press func()
}

// Buttons shows a row of buttons. Each runs one call at a time, in a goroutine of its own. Without
// a browser, as when a notebook is executed headless, nothing happens.
func Buttons(buttons ...Button) error {
	if !inNotebook() {
		return nil
	}
	id := "pcl-buttons-" + gonbui.UniqueId()
	if err := showHTML(fmt.Sprintf(`<div id="%s"></div>`, id), "", ""); err != nil {
		return report(err)
	}
	background(func() {
		for _, b := range buttons {
			w := widgets.Button(b.Label).AppendTo(id).Done() // waits for the browser
			background(func() {
				for count := range w.Listen().C {
					b.heard(count)
				}
			})
		}
	})
	return nil
}

// heard presses the button if a page says so: it counts presses from 1. 0 only says that there is a
// button, or stands for a page where there is none.
func (b Button) heard(count int) {
	if count > 0 {
		b.press()
	}
}

// press calls the user's code, of which a panic ends only this call.
func (b Button) press() {
	defer func() {
		if p := recover(); p != nil {
			report(fmt.Errorf("nb: button %q: %w", b.Label, panicked(p)))
		}
	}()
	b.Press()
}
