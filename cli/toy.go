package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/weigh"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
)

// toyCmd is `pcl toy`, which repeats the experiment of the paper's Figure 2.
type toyCmd struct {
	Method  []string `default:"avggrad,mgda,emgd-gs,emgd-gmc" placeholder:"NAME,…" help:"Methods (${default})."`
	Param   assigned `placeholder:"NAME=VALUE" help:"Parameter of the methods, e.g. tau=1 or rescale=mean; may be repeated."`
	Steps   int      `default:"1500" help:"Number of steps (${default})."`
	Arrival int      `default:"500" help:"Step at which the second function arrives (${default})."`
	LR      float64  `name:"lr" default:"2e-5" help:"Step size (${default})."`
	Out     string   `short:"o" type:"path" placeholder:"FILE" help:"Draw the descent to a .png, .svg or .pdf file."`
	JSON    bool     `name:"json" help:"Print every step as JSON, one line per method."`
}

// Validate checks the name of the file.
func (c *toyCmd) Validate() error { return checkEnding("--out", c.Out, ".png", ".svg", ".pdf") }

func (c *toyCmd) Run(rc *runContext) error {
	settings := toy.Figure2()
	settings.Steps, settings.Arrival, settings.LR = c.Steps, c.Arrival, c.LR
	var traces []*toy.Trace
	for _, name := range c.Method {
		trace, err := usage(descend(name, c.Param, settings))
		if err != nil {
			return err
		}
		traces = append(traces, trace)
		if rule, err := weigh.New(name, parameters(c.Param), 0); err == nil {
			sayWhatIsLeftOut(rc, name, rule)
		}
	}
	if c.Out != "" {
		figure, err := viz.ToyDescent(traces...)
		if err != nil {
			return err
		}
		if err := figure.Save(c.Out); err != nil {
			return err
		}
	}
	if !c.JSON {
		return printToy(rc.stdout, traces)
	}
	for _, t := range traces {
		if err := json.NewEncoder(rc.stdout).Encode(t); err != nil {
			return err
		}
	}
	return nil
}

// descend descends with a method.
func descend(name string, given map[string]string, s toy.Settings) (t *toy.Trace, err error) {
	m, err := method.New(name, parameters(given))
	if err != nil {
		return nil, err
	}
	if t, err = toy.Run(m, s); err != nil {
		return nil, err
	}
	t.Label = method.Describe(m).Title
	return t, nil
}

func printToy(out io.Writer, traces []*toy.Trace) error {
	table := newTable("METHOD", "STEP", "x", "y", "f1", "f2", "‖∇f1‖", "‖∇f2‖", "w1", "w2")
	add := func(name, step string, p toy.Point, weights ...float64) {
		cells := []any{name, step}
		for _, x := range append([]float64{p.X, p.Y, p.F1, p.F2, p.Norm1, p.Norm2}, weights...) {
			cells = append(cells, fmt.Sprintf("%.4f", x))
		}
		table.row(cells...)
	}
	for _, t := range traces {
		shown := []int{0, t.Settings.Arrival, (t.Settings.Arrival + len(t.Steps)) / 2} // in ascending order
		for _, i := range slices.Compact(shown) {
			if i < len(t.Steps) {
				add(t.Method, fmt.Sprint(i), t.Steps[i].Point, t.Steps[i].Weights[:]...)
			}
		}
		add(t.Method, fmt.Sprintf("end %d", len(t.Steps)), t.End)
	}
	return table.print(out)
}
