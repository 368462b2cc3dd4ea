package nb

import (
	"fmt"
	"html"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
)

// Slider shows one of several figures and a slider to choose it, beginning with the first. All of
// them are in the page, in the versions of [Themed], so that it works without a kernel, in exported pages
// too. Every frame needs a label.
func Slider(frames []Drawing, labels []string) error {
	if len(frames) == 0 || len(frames) != len(labels) {
		return report(fmt.Errorf("nb: %d frames and %d labels; a slider needs one label for each of its frames", len(frames), len(labels)))
	}
	var pictures, names strings.Builder
	for i, draw := range frames {
		page, err := versions(draw, true)
		if err != nil {
			return report(fmt.Errorf("frame %q: %w", labels[i], err))
		}
		fmt.Fprintf(&pictures, `<div%s>%s</div>`, hiddenUnless(i == 0), page)
		fmt.Fprintf(&names, `<span%s>%s</span>`, hiddenUnless(i == 0), html.EscapeString(labels[i]))
	}
	return HTML(themeStyle + fmt.Sprintf(sliderPage, gonbui.UniqueId(), len(frames)-1, html.EscapeString(labels[0]), names.String(), pictures.String()))
}

// sliderPage shows the pictures' and the names' child whose number the slider has.
const sliderPage = `<div id="pcl-slider-%s"><div>
<input type="range" min="0" max="%d" value="0" step="1" aria-label="frame" aria-valuetext="%s" style="width:20em;vertical-align:middle"
 oninput="var i=+this.value,n=this.nextElementSibling,p=this.parentElement.nextElementSibling;[n,p].forEach(function(g){Array.prototype.forEach.call(g.children,function(c,j){c.hidden=j!==i})});this.setAttribute('aria-valuetext',n.children[i].textContent)">
<output>%s</output></div><div>%s</div></div>`

func hiddenUnless(shown bool) string {
	if shown {
		return ""
	}
	return " hidden"
}
