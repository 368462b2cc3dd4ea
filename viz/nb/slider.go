package nb

import (
	"fmt"
	"html"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/parallelcl/parallelcl/viz"
)

// Slider shows one of several figures, with a slider to choose which; the first is shown first. All of them
// are in the page, in the versions of [Themed], so the slider works without a kernel, also in exported pages.
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
	figures, err := drawFrames(frames, labels)
	if err != nil || !inNotebook() {
		return report(err)
	}
	frame, names := page{phones: true, save: true}, page{}
	for i, f := range figures {
		fmt.Fprintf(&frame, `<div%s>`, hiddenUnless(i == start))
		frame.figure(f)
		frame.WriteString(`</div>`)
		fmt.Fprintf(&names, `<span%s>%s</span>`, hiddenUnless(i == start), html.EscapeString(labels[i]))
	}
	whole := page{err: frame.err}
	fmt.Fprintf(&whole, sliderPage, gonbui.UniqueId(), len(frames)-1, start, html.EscapeString(labels[start]), names.String(), frame.String())
	return report(whole.send(figures[start].light, ""))
}

// drawFrames draws all frames, the dark ones when they are needed.
func drawFrames(frames []Drawing, labels []string) ([]themed, error) {
	light, err := sameAxes(frames, labels, viz.Light)
	dark := sync.OnceValues(func() ([]*viz.Figure, error) { return sameAxes(frames, labels, viz.Dark) })
	out := make([]themed, len(light))
	for i, f := range light {
		out[i] = themed{f, func() (*viz.Figure, error) {
			all, err := dark()
			if err != nil {
				return nil, err
			}
			return all[i], nil
		}}
	}
	return out, err
}

// sameAxes draws frames with the same axes. Figures of different kinds keep their own.
func sameAxes(frames []Drawing, labels []string, theme *viz.Theme) ([]*viz.Figure, error) {
	out := make([]*viz.Figure, len(frames))
	for i, draw := range frames {
		f, err := drawn(draw(theme))
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
const sliderPage = `<div id="pcl-slider-%s"><div>
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
