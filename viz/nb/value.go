package nb

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// Show shows a value by its type: a figure as a picture (whose values exported pages show under the
// pointer), a run as its numbers and the curves of its tasks, a training as [Training.Watch] does,
// a batch as [Batch] does, an image, a slice of structs as a table, and anything else as text. It
// takes the results of a function, including the error:
//
//	nb.Show(viz.Accuracy(runs...))
func Show(value any, failed ...error) error {
	if err := errors.Join(failed...); err != nil {
		return report(err)
	}
	known, err := show(value)
	if !known {
		fmt.Println(value)
	}
	return err
}

// ShowValue shows a value that [Show] shows as more than text, and returns false for others. The
// kernel calls it for the last line of a cell.
func ShowValue(value any) bool {
	known, _ := show(value)
	return known
}

func show(value any) (known bool, err error) {
	switch v := value.(type) {
	case *viz.Figure:
		return true, report(showFigures("", 0, nil, v))
	case *results.Run:
		return true, showRun(v)
	case *Training:
		return true, v.Watch()
	case *data.Batch:
		return true, Batch(v)
	case data.Batch:
		return true, Batch(&v)
	case image.Image:
		return true, Image(v, "")
	}
	if head, rows := tableOf(reflect.ValueOf(value)); head != nil {
		return true, Table(head, rows...)
	}
	return false, nil
}

// showRun shows a run's numbers, if it has finished, and the curves of its tasks, if it was
// evaluated.
func showRun(r *results.Run) error {
	if r.Dataset != "" {
		fmt.Printf("%s on %s, %s-incremental, seed %d: %d tasks, %d steps, A = %.1f %%, F = %+.1f %%\n",
			r.MethodTitle, r.Dataset, r.Increment, r.Seed, len(r.Tasks), r.Steps, r.A, r.F)
	}
	if len(r.Curve) == 0 {
		return nil
	}
	return Show(viz.TaskCurves(r))
}

// tableOf returns the exported fields of a slice of structs, or of pointers to structs, as a table;
// no head if it is another value.
func tableOf(list reflect.Value) (head []string, rows [][]any) {
	if list.Kind() != reflect.Slice {
		return nil, nil
	}
	of := list.Type().Elem()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil, nil
	}
	fields := slices.DeleteFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
		return !f.IsExported() || len(f.Index) > 1
	})
	for _, f := range fields {
		head = append(head, f.Name)
	}
	for i := range list.Len() {
		v, row := reflect.Indirect(list.Index(i)), make([]any, len(fields))
		for j := 0; v.IsValid() && j < len(fields); j++ {
			row[j] = v.Field(fields[j].Index[0]).Interface()
		}
		rows = append(rows, row)
	}
	return head, rows
}

// Plot draws lines over x, or over 0, 1, 2 and so on if x is nil. For names, markers and bands see
// [viz.NewPlot].
func Plot(x []float64, ys ...[]float64) error {
	p := viz.NewPlot("", "", "")
	for i, y := range ys {
		at, name := x, ""
		for k := 0; x == nil && k < len(y); k++ {
			at = append(at, float64(k))
		}
		if len(ys) > 1 {
			name = fmt.Sprint("line ", i+1)
		}
		p.Line(name, viz.Style{}, at, y)
	}
	return Show(viz.Plots("plot", fmt.Sprintf("%d lines.", len(ys)), p))
}

// Batch shows the images of a batch, if they are square and grey or RGB. Above each is the name of
// its class, or the number of a class that names lacks.
func Batch(b *data.Batch, names ...string) error {
	side, channels := square(len(b.X) / max(1, len(b.Class)))
	if side == 0 || b.N == 0 {
		return report(fmt.Errorf("nb: a batch of %d samples of %d values; want square images of 1 or 3 channels", b.N,
			len(b.X)/max(1, len(b.Class))))
	}
	var page strings.Builder
	for i, class := range b.Class[:b.N] {
		name := strconv.Itoa(class)
		if class >= 0 && class < len(names) {
			name = html.EscapeString(names[class])
		}
		code := encoded(pixels(b.X[i*side*side*channels:], side, channels))
		fmt.Fprintf(&page,
			`<div style="display:inline-block;margin:2px;text-align:center"><img alt="%s" style="width:%dpx;image-rendering:pixelated" src="data:image/png;base64,%s"><br>%s</div>`,
			name, 2*side, base64.StdEncoding.EncodeToString(code), name)
	}
	return report(showHTML(page.String(), "", ""))
}

// square returns the shape of a square image of so many values; 0 if there is none.
func square(values int) (side, channels int) {
	for _, channels := range []int{1, 3} {
		if side := int(math.Sqrt(float64(values / channels))); side*side*channels == values {
			return side, channels
		}
	}
	return 0, 0
}

// pixels is an image of values; those outside of [0, 1] are cut off.
func pixels(x []float32, side, channels int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		at := func(c int) uint8 { return uint8(255*min(1, max(0, x[i*channels+c%channels])) + 0.5) }
		m.SetNRGBA(i%side, i/side, color.NRGBA{at(0), at(1), at(2), 255})
	}
	return m
}
