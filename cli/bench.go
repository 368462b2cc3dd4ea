package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// benchCmd groups the commands that measure speed.
type benchCmd struct {
	Step benchStepCmd `cmd:"" help:"Time training steps on random images, of one method or of several in turn."`
}

// benchStepCmd times whole training steps: the streams' batches, all gradients, the weights and the update. Training
// is class-incremental, so that all parameters are shared.
type benchStepCmd struct {
	Model     string   `default:"mlp" enum:"mlp,resnet18" help:"mlp (784-128-64-62) or resnet18."`
	Width     int      `placeholder:"N" help:"Channels of the ResNet's stem (64)."`
	Precision string   `default:"float32" enum:"float32,bfloat16" help:"Precision of the model's products: ${enum}."`
	Side      int      `placeholder:"N" help:"Height and width of the ResNet's images (32)."`
	Batch     int      `placeholder:"N" help:"Samples of each stream (default 128 for the mlp, 32 for resnet18)."`
	K         int      `name:"k" default:"3" placeholder:"N" help:"Number of gradients in a step: one for each stream, and one for the memory if there is one (${default})."`
	Method    []string `default:"avggrad,emgd-gmc" placeholder:"NAME,…" help:"Methods (${default}); each is compared with the first."`
	Param     assigned `placeholder:"NAME=VALUE" help:"Parameter of the methods; may be repeated."`
	Memory    bool     `help:"Compute one of the K gradients on the memory of a task that has ended."`
	Edit      bool     `help:"Time the last method with memory editing too (implies --memory)."`
	Warmup    int      `default:"5" placeholder:"N" help:"Steps before the first timed one (${default})."`
	Steps     int      `default:"30" placeholder:"N" help:"Timed steps of each method (${default})."`
	Turns     bool     `help:"Take turns with other programs: print a JSON line when ready, then read from each line of standard input how many steps to time next, and answer with a JSON line."`
	JSON      bool     `name:"json" help:"Print JSON, with the time of every step."`
	machineFlags

	net model.Model
}

// benchReport is what the command prints. Times are in milliseconds unless their names say seconds.
type benchReport struct {
	Backend    backend.Info `json:"backend"`
	Model      string       `json:"model"`
	Parameters int          `json:"parameters"`
	Batch      int          `json:"batch"`
	K          int          `json:"k"`
	Memory     bool         `json:"memory"` // whether one of the K rows is the memory's
	// FirstStep is the time from the program's start until the first method has made a step, compilation included.
	FirstStep float64      `json:"first_step_seconds"`
	PeakRSS   int64        `json:"peak_rss_bytes,omitempty"` // during the steps after the warm-up; 0 if unknown
	Methods   []*contender `json:"methods"`
}

// contender is one of the methods being timed.
type contender struct {
	Name     string    `json:"name"`
	Millis   []float64 `json:"ms"`
	Quarters quarters  `json:"ms_quartiles"`
	Ratio    quarters  `json:"ratio_quartiles"` // each step's time divided by that of the first method's step in the same turn
	PerSec   float64   `json:"steps_per_second"`
	learner  *pcl.Learner
}

// quarters are the three quartiles of a sample.
type quarters [3]float64

func quartersOf(sample []float64) (q quarters) {
	sorted := slices.Sorted(slices.Values(sample))
	for i := range q {
		at := float64((i+1)*(len(sorted)-1)) / 4
		low := int(at)
		high := min(low+1, len(sorted)-1)
		q[i] = sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
	}
	return q
}

func (c *benchStepCmd) Run(rc *runContext) error {
	began := time.Now()
	b, err := c.open(rc)
	if err != nil {
		return err
	}
	defer b.Close()
	programs := pcl.NewPrograms(b)
	defer programs.Close()
	report := &benchReport{Backend: b.Info, Batch: c.Batch, K: c.K, Memory: c.Memory}
	for i, name := range c.contenders() {
		l, err := c.learner(b, programs, name)
		if err != nil {
			return err
		}
		defer l.learner.Close()
		if err := l.step(rc); err != nil {
			return err
		}
		if i == 0 {
			report.FirstStep = time.Since(began).Seconds()
		}
		report.Methods = append(report.Methods, l)
	}
	report.Model, report.Parameters = c.net.Key(), c.net.Layout().Total
	if err := report.turn(rc, c.Warmup); err != nil {
		return err
	}
	forgetPeakRSS()
	if c.Turns {
		return report.takeTurns(rc)
	}
	if err := report.turn(rc, c.Steps); err != nil {
		return err
	}
	report.PeakRSS = experiment.PeakRSS()
	report.summarise()
	if c.JSON {
		return json.NewEncoder(rc.stdout).Encode(report)
	}
	return report.print(rc.stdout)
}

// Validate checks the flags, and fills in defaults that depend on other flags.
func (c *benchStepCmd) Validate() error {
	if c.Model != "resnet18" && (c.Width != 0 || c.Side != 0) {
		return errors.New("--width and --side are for a ResNet: add --model resnet18")
	}
	c.Width, c.Side = cmp.Or(c.Width, 64), cmp.Or(c.Side, 32)
	if c.Batch == 0 {
		c.Batch = 128
		if c.Model == "resnet18" {
			c.Batch = 32
		}
	}
	c.Memory = c.Memory || c.Edit
	least := 1
	if c.Memory {
		least = 2
	}
	switch tasks := c.outputs() / classesPerTask; {
	case c.K < least || c.K > tasks:
		return fmt.Errorf("--k %d: the benchmark has %d to %d rows", c.K, least, tasks)
	case c.Batch < 2:
		return fmt.Errorf("--batch %d: want 2 samples or more", c.Batch)
	case c.Steps < 1 || c.Warmup < 0:
		return fmt.Errorf("--steps %d --warmup %d: want at least one step, and no negative number", c.Steps, c.Warmup)
	case c.Steps > maxTimedSteps || c.Warmup > maxTimedSteps:
		return fmt.Errorf("--steps %d --warmup %d: want at most %d, as the time of each is kept", c.Steps, c.Warmup, maxTimedSteps)
	case c.Turns && len(c.contenders()) != 1:
		return fmt.Errorf("--turns times one method, not %d", len(c.contenders()))
	}
	for _, name := range c.Method {
		if _, err := method.New(name, parameters(c.Param)); err != nil {
			return err
		}
	}
	sizes := model.Sizes{Height: 28, Width: 28, Channels: 1, Outputs: c.outputs(), Hidden: []int{128, 64}}
	if c.Model == "resnet18" {
		sizes = model.Sizes{Height: c.Side, Width: c.Side, Channels: 3, Outputs: c.outputs(), Base: c.Width}
	}
	var err error
	if c.net, err = model.New(c.Model, sizes); err == nil && c.Precision == "bfloat16" {
		c.net = model.BFloat16(c.net)
	}
	return err
}

// maxTimedSteps is the largest number of steps that are timed at once. The time of each is kept.
const maxTimedSteps = 1_000_000

// editing is appended to the name of the contender that edits its memory.
const editing = "+edit"

func (c *benchStepCmd) contenders() []string {
	names := slices.Clone(c.Method)
	if c.Edit {
		names = append(names, names[len(names)-1]+editing)
	}
	return names
}

// classesPerTask is the number of classes of every task of the benchmark.
const classesPerTask = 2

func (c *benchStepCmd) outputs() int {
	if c.Model == "mlp" {
		return 62
	}
	return 100
}

// learner returns a contender whose learner has K rows that never end. If asked for, one of them is the memory of a
// task that has ended.
func (c *benchStepCmd) learner(b *backend.Backend, programs *pcl.Programs, name string) (*contender, error) {
	o := pcl.Options{
		Backend: b, Model: c.net, Increment: scenario.ClassIncremental, Batch: c.Batch, Programs: programs,
		Optimizer: optim.Adam{LR: 0.001},
		Memory:    memory.Config{Policy: memory.PerClass, Budget: (c.Batch + 1) / classesPerTask},
	}
	if c.Model == "resnet18" {
		o.Image = pcl.Image{Height: c.Side, Width: c.Side, Channels: 3}
	}
	plain, edit := strings.CutSuffix(name, editing)
	if edit {
		o.Edit.Eta = 0.02
	}
	var err error
	if o.Method, err = method.New(plain, parameters(c.Param)); err != nil {
		return nil, err
	}
	l, err := pcl.New(context.Background(), o)
	if err != nil {
		return nil, err
	}
	if err := c.attach(l, o.Model.Inputs()); err != nil {
		l.Close()
		return nil, err
	}
	return &contender{Name: name, learner: l}, nil
}

func (c *benchStepCmd) attach(l *pcl.Learner, inputs int) error {
	pixels := noise(4 * c.Batch * inputs)
	for i := range c.K {
		s := &noiseStream{pixels: pixels, rng: newRand(i), class: classesPerTask * i, left: -1}
		over := 0 // how many steps to make until the task has ended
		if c.Memory && i == 0 {
			over = 2 // two batches are enough to fill the memory
			s.left = over
		}
		if _, err := l.Attach(pcl.Task{Classes: []int{s.class, s.class + 1}, Stream: s}); err != nil {
			return err
		}
		for range over {
			if _, err := l.Step(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *contender) step(rc *runContext) error {
	if err := rc.ctx.Err(); err != nil {
		return err
	}
	_, err := c.learner.Step()
	return err
}

// turn times steps of all methods: one step of each, then the next step of each, and so on.
func (r *benchReport) turn(rc *runContext, steps int) error {
	for _, m := range r.Methods {
		m.Millis = make([]float64, 0, steps)
	}
	for range steps {
		for _, m := range r.Methods {
			began := time.Now()
			if err := m.step(rc); err != nil {
				return err
			}
			m.Millis = append(m.Millis, 1e3*time.Since(began).Seconds())
		}
	}
	return nil
}

// takeTurns reads numbers of steps from standard input, one on each line, and times that many steps.
func (r *benchReport) takeTurns(rc *runContext) error {
	out := json.NewEncoder(rc.stdout)
	if err := out.Encode(r); err != nil {
		return err
	}
	lines := bufio.NewScanner(rc.stdin)
	for lines.Scan() {
		steps, err := strconv.Atoi(lines.Text())
		if err != nil || steps < 1 || steps > maxTimedSteps {
			return usagef("--turns: %q is not a number of steps from 1 to %d", lines.Text(), maxTimedSteps)
		}
		if err := r.turn(rc, steps); err != nil {
			return err
		}
		err = out.Encode(struct {
			Millis  []float64 `json:"ms"`
			PeakRSS int64     `json:"peak_rss_bytes,omitempty"`
		}{r.Methods[0].Millis, experiment.PeakRSS()})
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

func (r *benchReport) summarise() {
	base := r.Methods[0].Millis
	for _, m := range r.Methods {
		ratios := make([]float64, len(base))
		for i := range base {
			ratios[i] = m.Millis[i] / base[i]
		}
		m.Quarters, m.Ratio = quartersOf(m.Millis), quartersOf(ratios)
		m.PerSec = 1e3 / m.Quarters[1]
	}
}

func (r *benchReport) print(out io.Writer) error {
	row := ""
	if r.Memory {
		row = ", one of them the memory's"
	}
	fmt.Fprintf(out, "%s, %d parameters, batch %d, %d rows%s; medians [quartiles]\n", r.Model, r.Parameters, r.Batch, r.K, row)
	t := newTable("METHOD", "ms/STEP", "STEPS/s", "TIME / "+strings.ToUpper(r.Methods[0].Name))
	for _, m := range r.Methods {
		q, ratio := m.Quarters, m.Ratio
		t.row(m.Name, fmt.Sprintf("%.2f [%.2f, %.2f]", q[1], q[0], q[2]), fmt.Sprintf("%.1f", m.PerSec), fmt.Sprintf("%.3f [%.3f, %.3f]", ratio[1], ratio[0], ratio[2]))
	}
	if err := t.print(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "First step after %.1f s.", r.FirstStep)
	if r.PeakRSS > 0 {
		fmt.Fprintf(out, " Peak memory of the process %.0f MB.", float64(r.PeakRSS)/1e6)
	}
	_, err := fmt.Fprintln(out)
	return err
}
