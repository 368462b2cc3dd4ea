package nb

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/valuetext"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// Show shows a value by its type: a figure as a picture (whose values exported pages show under the
// pointer), a run as its numbers and the curves of its tasks, several runs as a table of their
// numbers, a training as [Training.Watch] does, a batch as [Batch] does, an image or several, a
// plot of gonum, a slice of structs as a table, of which a long one shows its begin and end, and
// anything else as text of at most some pages. It takes the results of a function, including the
// error:
//
//	nb.Show(viz.Accuracy(runs...))
func Show(value any, failed ...error) error {
	if err := errors.Join(failed...); err != nil {
		return report(err)
	}
	known, err := show(value)
	if !known {
		fmt.Println(valuetext.Of(value, valuetext.Shown))
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
		return true, report(showFigures("", 0, nil, false, v))
	case *results.Run:
		return true, showRun(v)
	case []*results.Run:
		return true, tableRuns(v)
	case *Training:
		return true, v.Watch()
	case *data.Batch:
		return true, Batch(v)
	case data.Batch:
		return true, Batch(&v)
	case image.Image:
		return true, Image(v, "")
	case []image.Image:
		return len(v) > 0, sheet(v[:min(len(v), sheetLimit)], func(int) string { return "" })
	case drawing:
		return true, report(drawPlot(v))
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

// tableRuns shows the numbers by which runs are told apart and compared.
func tableRuns(runs []*results.Run) error {
	var rows [][]any
	for _, r := range runs {
		if r != nil {
			rows = append(rows, []any{r.Label(), r.Dataset, r.Increment, r.Seed, len(r.Tasks), r.Steps,
				fmt.Sprintf("%.1f", r.A), fmt.Sprintf("%+.1f", r.F)})
		}
	}
	return Table([]string{"method", "data set", "increment", "seed", "tasks", "steps", "A (%)", "F (%)"}, rows...)
}

const (
	rowLimit   = 100 // rows of a slice that are all shown; of a longer one
	rowHead    = 50  // the first
	rowTail    = 10  // and the last are
	sheetLimit = 200 // images
)

// drawing is a plot of gonum.
type drawing interface {
	WriterTo(width, height vg.Length, format string) (io.WriterTo, error)
}

// drawPlot shows a plot as a picture and as a drawing.
func drawPlot(d drawing) error {
	if !inNotebook() {
		return nil
	}
	const width, height = 6 * vg.Inch, 4 * vg.Inch
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: "a plot"}
	for _, format := range []string{"png", "svg"} {
		w, err := d.WriterTo(width, height, format)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if _, err := w.WriteTo(&b); err != nil {
			return err
		}
		if format == "svg" {
			data[protocol.MIMEImageSVG] = b.String()
		} else {
			data[protocol.MIMEImagePNG] = b.Bytes()
		}
	}
	return send(&protocol.DisplayData{Data: data}, "")
}

// tableOf returns the exported fields of a slice of structs, or of pointers to structs, as a table;
// no head if it is another value. Of a long slice it has the first and the last rows.
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
	n := list.Len()
	for i := 0; i < n && head != nil; i++ {
		if n > rowLimit && i == rowHead {
			i = n - rowTail
			row := make([]any, len(fields))
			for j := range row {
				row[j] = "…"
			}
			row[0] = fmt.Sprintf("… of %d", n)
			rows = append(rows, row)
		}
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
	images := make([]image.Image, b.N)
	for i := range images {
		images[i] = pixels(b.X[i*side*side*channels:], side, channels)
	}
	return sheet(images, func(i int) string {
		if class := b.Class[i]; class >= 0 && class < len(names) {
			return names[class]
		}
		return strconv.Itoa(b.Class[i])
	})
}

// sheet shows images side by side, each above its name.
func sheet(images []image.Image, name func(i int) string) error {
	var page strings.Builder
	for i, m := range images {
		name, size := html.EscapeString(name(i)), 2*m.Bounds().Dx()
		fmt.Fprintf(&page,
			`<div style="display:inline-block;margin:2px;text-align:center"><img alt="image %d of %d" style="width:%dpx;image-rendering:pixelated" src="data:image/png;base64,%s"><br>%s</div>`,
			i+1, len(images), min(size, max(size/2, 128)), base64.StdEncoding.EncodeToString(encoded(m)), name)
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
