package nb

import (
	"fmt"

	"github.com/parallelcl/parallelcl/viz"
)

// Slider shows one of several figures, with a slider to choose which; the first is shown first. All of them
// are in the page, so the slider works without a kernel, also in exported pages.
// Every frame needs a label. The frames get the same axes ([viz.SameAxes]), so that what does not change
// stays in place.
func Slider(frames []Drawing, labels []string) error { return SliderFrom(0, frames, labels) }

// SliderFrom is [Slider], but shows the frame with the given number first. Choose the most informative one:
// it is the only one that is seen on paper, or if scripts do not run.
func SliderFrom(start int, frames []Drawing, labels []string) error {
	if len(frames) == 0 || len(frames) != len(labels) {
		return report(fmt.Errorf("nb: %d frames and %d labels; a slider needs one label for each of its frames", len(frames), len(labels)))
	}
	if start < 0 || start >= len(frames) {
		return report(fmt.Errorf("nb: a slider of %d frames cannot begin with number %d; want one from 0 to %d", len(frames), start, len(frames)-1))
	}
	figures, err := sameAxes(frames, labels)
	if err != nil {
		return report(err)
	}
	return report(showFigures("", start, labels, figures...))
}

// sameAxes draws frames with the same axes. Figures of different kinds keep their own.
func sameAxes(frames []Drawing, labels []string) ([]*viz.Figure, error) {
	out := make([]*viz.Figure, len(frames))
	for i, draw := range frames {
		f, err := drawn(draw(viz.Light))
		if err != nil {
			return nil, fmt.Errorf("frame %q: %w", labels[i], err)
		}
		out[i] = f
	}
	viz.SameAxes(out...)
	return out, nil
}

// sliderPage shows the pictures' and the names' child whose number the slider has. JupyterLab is told to leave
// the arrow keys to the slider.
const sliderPage = `<div><div>
<input type="range" data-lm-suppress-shortcuts="true" min="0" max="%d" value="%d" step="1" aria-label="frame" aria-valuetext="%s" style="width:20em;vertical-align:middle"
 oninput="var i=+this.value,n=this.nextElementSibling,p=this.parentElement.nextElementSibling;[n,p].forEach(function(g){Array.prototype.forEach.call(g.children,function(c,j){c.style.display=j===i?'':'none'})});this.setAttribute('aria-valuetext',n.children[i].textContent)">
<output style="display:inline-block">%s</output></div><div>%s</div></div>`

// hiddenUnless hides by a style, which notebooks that are not trusted keep; the attribute hidden they drop.
func hiddenUnless(shown bool) string {
	if shown {
		return ""
	}
	return ` style="display:none"`
}
