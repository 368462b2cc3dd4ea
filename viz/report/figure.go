package report

import "github.com/parallelcl/parallelcl/viz"

// showFigure draws figures of package nb from their data, which it checks; false where they are none.
func showFigure(data string) (string, bool) {
	f, err := viz.ReadFrames([]byte(data))
	if err != nil {
		return "", false
	}
	return f.HTML(), true
}
