package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// benchCmd groups the commands that measure speed.
type benchCmd struct {
	Step benchStepCmd `cmd:"" help:"Time training steps on random images, of one method or of several in turn."`
}

// benchStepCmd times whole training steps: the streams' batches, all gradients, the weights and the
// update. Training is class-incremental, so that all parameters are shared. bench/bench.py measures
// by it.
type benchStepCmd struct {
	Model     string   `default:"mlp" enum:"mlp,resnet18" help:"mlp (784-128-64-62) or resnet18."`
	Width     int      `range:"whole [1,inf)" default:"64" placeholder:"N" help:"Channels of the ResNet's stem (${default})."`
	Precision string   `default:"float32" enum:"float32,bfloat16" help:"Precision of the model's products: ${enum}."`
	Side      int      `range:"whole [1,inf)" default:"32" placeholder:"N" help:"Height and width of the ResNet's images (${default})."`
	Batch     int      `range:"whole [2,inf)" placeholder:"N" help:"Samples of each stream (default 128 for the mlp, 32 for resnet18)."`
	K         int      `name:"k" default:"3" placeholder:"N" help:"Number of gradients in a step, one for each stream (${default})."`
	Method    []string `default:"avggrad,emgd-gmc" placeholder:"NAME,…" help:"Methods (${default}); each is compared with the first."`
	Edit      bool     `help:"Compute one of the K gradients on the memory of a task that has ended, and time the last method with memory editing too."`
	Warmup    int      `range:"whole [0,1000000]" default:"5" placeholder:"N" help:"Steps before the first timed one (${default})."`
	Steps     int      `range:"whole [1,1000000]" default:"30" placeholder:"N" help:"Timed steps of each method (${default})."`
	Turns     bool     `help:"Take turns with other programs: print a JSON line when ready, then read from each line of standard input how many steps to time next, and answer with a JSON line."`
	JSON      bool     `name:"json" help:"Print JSON, with the time of every step."`
	machineFlags

	net   model.Model
	image pcl.Image
}

// editing is appended to the name of the contender that edits its memory.
const editing = "+edit"

// classesPerTask is the number of classes of every task of the benchmark.
const classesPerTask = 2

// Validate checks the flags, and fills in defaults that depend on other flags.
func (c *benchStepCmd) Validate() (err error) {
	sizes := model.Sizes{Height: 28, Width: 28, Channels: 1, Outputs: 62, Hidden: []int{128, 64}}
	batch, least := 128, 1
	if c.Model == "resnet18" {
		sizes = model.Sizes{Height: c.Side, Width: c.Side, Channels: 3, Outputs: 100, StemChannels: c.Width}
		c.image = pcl.Image{Height: c.Side, Width: c.Side, Channels: 3}
		batch = 32
	}
	c.Batch = cmp.Or(c.Batch, batch)
	for _, name := range c.Method {
		if _, err := method.Lookup(name); err != nil {
			return err
		}
	}
	if c.Edit {
		least, c.Method = 2, append(c.Method, c.Method[len(c.Method)-1]+editing)
	}
	most := sizes.Outputs / classesPerTask
	if c.K < least || c.K > most {
		return fmt.Errorf("--k %d: the benchmark has %d to %d rows", c.K, least, most)
	}
	if c.Turns && len(c.Method) != 1 {
		return fmt.Errorf("--turns times one method, not %d", len(c.Method))
	}
	if c.net, err = model.New(c.Model, sizes); err != nil {
		return err
	}
	if c.Precision == "bfloat16" {
		c.net = model.BFloat16(c.net)
	}
	return nil
}

// benchReport is what the command prints as JSON.
type benchReport struct {
	Parameters int  `json:"parameters"`
	Memory     bool `json:"memory"` // whether one of the rows is the memory's
	// FirstStep is the time from the program's start until the first method has made a step,
	// compilation included.
	FirstStep float64      `json:"first_step_seconds"`
	PeakRSS   int64        `json:"peak_rss_bytes,omitempty"` // during the steps after the warm-up; 0 if unknown
	Methods   []*contender `json:"methods"`
}

// contender is one of the methods being timed.
type contender struct {
	Name    string    `json:"name"`
	Millis  []float64 `json:"ms"` // of each step
	learner *pcl.Learner
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
	report := &benchReport{Parameters: c.net.Layout().Total, Memory: c.Edit}
	for _, name := range c.Method {
		l, err := c.learner(b, programs, name)
		if err != nil {
			return err
		}
		defer l.Close()
		if err := c.attach(l); err != nil {
			return err
		}
		if _, err := l.Step(); err != nil {
			return err
		}
		if report.FirstStep == 0 {
			report.FirstStep = time.Since(began).Seconds()
		}
		report.Methods = append(report.Methods, &contender{Name: name, learner: l})
	}
	if err := report.turn(rc, c.Warmup); err != nil {
		return err
	}
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // Linux then measures the peak of the memory from now on
	if c.Turns {
		return report.takeTurns(rc)
	}
	if err := report.turn(rc, c.Steps); err != nil {
		return err
	}
	return rc.print(c.JSON, report, func(out io.Writer) error { return c.print(out, report) })
}

// learner returns a learner without streams.
func (c *benchStepCmd) learner(b *backend.Backend, programs *pcl.Programs, name string) (*pcl.Learner, error) {
	plain, edit := strings.CutSuffix(name, editing)
	rule, err := method.New(plain, nil)
	if err != nil {
		return nil, err
	}
	o := pcl.Options{
		Backend: b, Model: c.net, Image: c.image, Increment: "class", Batch: c.Batch, Programs: programs,
		Method: rule, Optimizer: optim.Adam{LR: 0.001},
		Memory: memory.Config{Policy: "per_class", Budget: (c.Batch + 1) / classesPerTask},
	}
	if edit {
		o.Edit.Eta = 0.02
	}
	return pcl.New(context.Background(), o)
}

// attach attaches K streams that never end. With editing, one of them does, and its memory takes
// its place.
func (c *benchStepCmd) attach(l *pcl.Learner) error {
	rng := rand.New(rand.NewPCG(1, 1))
	pixels := make([]float32, 4*c.Batch*c.net.Inputs())
	for i := range pixels {
		pixels[i] = rng.Float32()
	}
	for i := range c.K {
		s := &noiseStream{pixels: pixels, rng: rand.New(rand.NewPCG(2, uint64(i))), class: classesPerTask * i, left: -1}
		if c.Edit && i == 0 {
			s.left = 2 // batches are enough to fill the memory, and then the task ends
		}
		steps := max(0, s.left)
		if _, err := l.Attach(pcl.Task{Classes: []int{s.class, s.class + 1}, Stream: s}); err != nil {
			return err
		}
		for range steps {
			if _, err := l.Step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// noiseStream delivers random images of two classes in turn.
type noiseStream struct {
	pixels []float32 // noise, of which batches are parts
	rng    *rand.Rand
	class  int
	left   int // how many batches are left; if negative, the stream never ends
}

// Next fills a batch with a part of the noise that begins at a random place.
func (s *noiseStream) Next(b *data.Batch) error {
	if s.left == 0 {
		return io.EOF
	}
	s.left--
	copy(b.X, s.pixels[s.rng.IntN(len(s.pixels)-len(b.X)):])
	for i := range b.Class {
		b.Class[i] = s.class + i%classesPerTask
	}
	b.N = len(b.Class)
	return nil
}

// turn times steps of all methods: one step of each, then the next step of each, and so on.
func (r *benchReport) turn(rc *runContext, steps int) error {
	for _, m := range r.Methods {
		m.Millis = nil
	}
	for range steps {
		for _, m := range r.Methods {
			if err := rc.ctx.Err(); err != nil {
				return err
			}
			began := time.Now()
			_, err := m.learner.Step()
			m.Millis = append(m.Millis, 1e3*time.Since(began).Seconds())
			if err != nil {
				return err
			}
		}
	}
	r.PeakRSS = experiment.PeakRSS()
	return nil
}

// takeTurns reads numbers of steps from standard input, one on each line, and times that many
// steps.
func (r *benchReport) takeTurns(rc *runContext) error {
	out := json.NewEncoder(rc.stdout)
	if err := out.Encode(r); err != nil {
		return err
	}
	lines := bufio.NewScanner(rc.stdin)
	for lines.Scan() {
		steps, err := strconv.Atoi(lines.Text())
		if err != nil || steps < 1 {
			return usagef("--turns: %q is not a number of steps", lines.Text())
		}
		if err := r.turn(rc, steps); err != nil {
			return err
		}
		if err := out.Encode(map[string]any{"ms": r.Methods[0].Millis, "peak_rss_bytes": r.PeakRSS}); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (c *benchStepCmd) print(out io.Writer, r *benchReport) error {
	fmt.Fprintf(out, "%s, %d parameters, batch %d, %d rows; medians\n", c.net.Key(), r.Parameters, c.Batch, c.K)
	t := newTable("METHOD", "ms/STEP", "STEPS/s", "TIME / "+strings.ToUpper(r.Methods[0].Name))
	for _, m := range r.Methods {
		ms := middle(m.Millis)
		t.row(m.Name, fmt.Sprintf("%.2f", ms), fmt.Sprintf("%.1f", 1e3/ms),
			fmt.Sprintf("%.3f", ms/middle(r.Methods[0].Millis)))
	}
	err := t.print(out)
	fmt.Fprintf(out, "First step after %.1f s. Peak memory of the process %.0f MB.\n", r.FirstStep, float64(r.PeakRSS)/1e6)
	return err
}

// middle is the median of a sample.
func middle(sample []float64) float64 {
	sorted := slices.Sorted(slices.Values(sample))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
