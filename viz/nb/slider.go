package nb

import (
	"fmt"

	"github.com/parallelcl/parallelcl/viz"
)

// Slider shows one of several figures, with a slider to choose which, and the one of a number first. Choose the most informative
// one: it is the only one that is seen on paper, or if scripts do not run. All of them are in the notebook, so the slider works without
// a kernel, and in exported pages, whose script unpacks them; browsers older than 2023 show only the first. Every frame needs a label. Frames of one kind get the same axes, so that what
// does not change stays in place.
func Slider(start int, frames []*viz.Figure, labels []string) error {
	if len(frames) != len(labels) || start < 0 || start >= len(frames) {
		panic(fmt.Sprintf("nb: a slider of %d frames with %d labels begins with number %d; want as many labels as frames, and the number of one", len(frames), len(labels), start))
	}
	return report(showFigures("", start, labels, frames...))
}

// sliderPage shows the pictures' and the names' child whose number the slider has. JupyterLab is told to leave
// the arrow keys to the slider.
const sliderPage = `<div><div>
<input type="range" data-lm-suppress-shortcuts="true" min="0" max="%d" value="%d" step="1" aria-label="frame" aria-valuetext="%s" style="width:20em;vertical-align:middle"
 oninput="var i=+this.value,n=this.nextElementSibling,p=this.parentElement.nextElementSibling;[n,p].forEach(function(g){Array.prototype.forEach.call(g.children,function(c,j){c.style.display=j===i?'':'none'})});this.setAttribute('aria-valuetext',n.children[i].textContent)">
<output style="display:inline-block">%s</output></div><div>%s</div></div>`
