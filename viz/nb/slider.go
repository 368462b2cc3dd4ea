package nb

import (
	"fmt"

	"github.com/parallelcl/parallelcl/viz"
)

// Slider shows one of several figures, with a slider that chooses which. Each figure needs a label.
// The figure with number start comes first; choose the most informative one, since paper and pages
// without scripts show only it, as do browsers older than 2023. The notebook holds all figures, so
// the slider works without a kernel and in exported pages. Figures with the same arrangement of
// plots get the same axes, so that they can be compared.
func Slider(start int, frames []*viz.Figure, labels []string) error {
	if len(frames) != len(labels) || start < 0 || start >= len(frames) {
		panic(fmt.Sprintf("nb: a slider of %d frames with %d labels begins with number %d; want as many labels as "+
			"frames, and the number of one", len(frames), len(labels), start))
	}
	return report(showFigures("", start, labels, false, frames...))
}
