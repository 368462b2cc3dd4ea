package viz_test

import (
	"fmt"
	"image/color"
	"log"
	"math"
	"os"

	"gonum.org/v1/plot"

	"github.com/parallelcl/parallelcl/viz"
)

// A figure of one's own: two methods, one of which the package does not know, each measured three
// times, and a bound.
func ExamplePlots() {
	x := []float64{0, 10, 20, 30, 40}
	curve := func(height, shift float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = height*(1-math.Exp(-x[i]/15)) + shift*math.Sin(x[i])
		}
		return y
	}
	styles := viz.MethodStyles("emgd", "mine")
	left := viz.NewPlot("accuracy", "step", "%")
	left.Mean("EMGD", styles["emgd"], x, curve(60, 3), curve(62, -2), curve(58, 1))
	left.Mean("my method", styles["mine"], x, curve(50, 2), curve(53, 2), curve(47, -3))
	left.Mark(0, "task 1")
	left.Mark(20, "2")

	right := viz.NewPlot("loss", "step", "")
	right.Band("", styles["mine"], x, []float64{2, 1.6, 1.3, 1.1, 1}, []float64{2.4, 2.1, 1.9, 1.6, 1.5})
	right.Line("my method", styles["mine"], x, []float64{2.2, 1.8, 1.6, 1.3, 1.2})
	right.Points("as printed", viz.Style{Color: color.Gray{96}}, []float64{10, 30}, []float64{2, 1.2})

	fig, err := viz.Plots("own", "Accuracy and loss of two methods.", left, right)
	save("own", fig, err)
}

// Two plots below each other, with the lines' names at their ends.
func ExampleNewPlot() {
	x := []float64{1, 2, 3, 4}
	var rows [][]*plot.Plot
	var plots []*viz.Plot
	for _, scale := range []float64{1, 10} {
		p := viz.NewPlot(fmt.Sprintf("times %g", scale), "task", "seconds")
		for i, name := range []string{"first", "second", "third"} {
			y := []float64{scale, scale * float64(1+i), scale * float64(2+i), scale * 3}
			p.Line(name, viz.MethodStyle(name), x, y)
		}
		p.LabelEnds()
		plots = append(plots, p)
		rows = append(rows, []*plot.Plot{p.Plot})
	}
	fig, err := viz.Plots("ownbelow", "Times of three streams.", plots...)
	if err != nil {
		log.Fatal(err)
	}
	fig.Rows, fig.Height = rows, 320
	save("ownbelow", fig, nil)
}

// A figure's numbers can be written as CSV.
func ExampleFigure_Encode() {
	p := viz.NewPlot("growth", "step", "")
	p.Line("a", viz.MethodStyle("a"), []float64{1, 2}, []float64{3, 4.5})
	fig, err := viz.Plots("growth", "A line.", p)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Encode(os.Stdout, "csv"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// plot,series,x,y,low,high
	// growth,a,1,3,,
	// growth,a,2,4.5,,
}
