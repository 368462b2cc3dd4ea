//go:build unix

package nb

import (
	"bytes"
	"encoding/gob"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
)

func paths() (*viz.Figure, error) { return viz.ToyPaths(descent()) }

// descent returns the trace of the mean on the toy functions.
func descent() *toy.Trace {
	m, err := method.New("avggrad", nil)
	if err != nil {
		panic(err)
	}
	trace, err := toy.Run(m, toy.Figure2())
	if err != nil {
		panic(err)
	}
	return trace
}

// cells are programs as a notebook runs them: the test binary under another environment.
var cells = map[string]func(){
	"figures": func() {
		Show(viz.ToyPaths(descent()))
		Show(paths())
		Image(image.NewGray(image.Rect(0, 0, 8, 4)), "grey")
	},
	"text": func() {
		Table([]string{"name", "a & b"}, []any{"x<y", 1.23456789}, []any{"z", 2},
			[]any{"a text of more than forty characters wraps", math.NaN()})
	},
	"live": func() {
		bar := Progress("training")
		for i := range 1001 {
			bar.Set(i, 1000, "loss 0.5")
		}
		bar.Close()
		live := NewLive()
		for range 5 {
			live.Show(paths())
		}
		live.Close()
	},
	"values": func() {
		Show([]struct {
			Name   string
			hidden int
		}{{"a", 1}, {"b", 2}})
		Show(viz.ToyPaths(descent()))
		Show(data.Batch{X: make([]float32, 2*5*5*3), Class: []int{0, 7}, N: 2})
		Batch(&data.Batch{X: make([]float32, 2*5*5), Class: []int{0, 7}, N: 2}, "<zero>")
		Plot(nil, []float64{1, 2}, []float64{2, 1})
	},
	"slider": func() {
		f, err := paths()
		if err != nil {
			panic(err)
		}
		Slider(2, []*viz.Figure{f, f, f}, []string{"step 1", "step <2>", "step 3"})
	},
	"controls": func() {
		fail := func() { panic("nobody has moved it") }
		Buttons(Button{"a", fail}, Button{"b", fail})
		Range("τ <1>", 0.1, 3, 0.1, func(float64) { fail() }, 1)
		Choose("rule", []string{"one", "<two>"}, func(string) { fail() })
	},
	"mistakes": func() {
		Show(nil, errors.New("no runs"))
		NewLive().Show(nil, errors.New("no figure"))
		Table([]string{"a"}, []any{1, 2})
		Batch(&data.Batch{})
		Plot([]float64{1}, []float64{1, 2})
		(&control{Kind: "button", Label: "b", call: func(int) { panic("no") }}).move(0)
		Range("r", 1, 0, 0.1, nil)
		Choose("c", nil, nil)
	},
}

func TestMain(m *testing.M) {
	if cell := cells[os.Getenv("NB_TEST_CELL")]; cell != nil {
		cell()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// notebook runs a cell and returns what a kernel received: first every display, in order, and
// whether each was waited for; then what the cell printed to standard error.
func notebook(t *testing.T, cell string) ([]*protocol.DisplayData, string) {
	t.Helper()
	dir := t.TempDir()
	to, from := filepath.Join(dir, "to"), filepath.Join(dir, "from")
	for _, path := range []string{to, from} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "NB_TEST_CELL="+cell, protocol.GONB_PIPE_ENV+"="+to,
		protocol.GONB_PIPE_BACK_ENV+"="+from)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	// Opened for both directions, neither end waits for a cell that shows nothing.
	read, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	write, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	var shown []*protocol.DisplayData
	received := make(chan error, 1)
	go func() { received <- receive(read, write, &shown) }()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	read.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // what was not waited for shows up now
	if err := <-received; err != nil {
		t.Fatal(err)
	}
	return shown, stderr.String()
}

// receive is the kernel's side. A display that the cell goes on from without waiting is an error.
func receive(read io.Reader, write io.Writer, shown *[]*protocol.DisplayData) error {
	in, out := gob.NewDecoder(read), gob.NewEncoder(write)
	waiting := false
	for {
		var data protocol.DisplayData
		if err := in.Decode(&data); err != nil {
			if waiting {
				return errors.New("the cell did not wait for its last display")
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil
			}
			return err
		}
		value, sync := data.Data[protocol.MIMECommValue].(protocol.CommValue)
		_, subscription := data.Data[protocol.MIMECommSubscribe]
		switch {
		case subscription:
		case sync:
			waiting = false
			if err := out.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: value.Value}); err != nil {
				return err
			}
		case waiting:
			return errors.New("the cell did not wait for the display before")
		default:
			waiting = true
			*shown = append(*shown, &data)
		}
	}
}

func pageOf(d *protocol.DisplayData) string {
	s, _ := d.Data[protocol.MIMETextHTML].(string)
	return s
}

func TestFigures(t *testing.T) {
	shown, _ := notebook(t, "figures")
	if len(shown) != 3 {
		t.Fatalf("%d displays, want 3", len(shown))
	}
	data, _ := shown[0].Data[protocol.MIMEImagePNG].([]byte)
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	size, _ := shown[0].Metadata["image/png"].(map[string]any)
	if size["width"] != 800 || size["height"] != int(float64(c.Height)/1.5+0.5) || c.Width != 1200 {
		t.Errorf("a picture of %d×%d says it is %v", c.Width, c.Height, size)
	}
	if alt, _ := shown[0].Data[protocol.MIMETextPlain].(string); len(alt) < 20 {
		t.Errorf("the picture is described as %q", alt)
	}
	for _, d := range shown[:2] {
		framesOf(t, d, 1)
		counted(t, pageOf(d), map[string]int{
			"data:image/svg+xml;base64,": 1, `<figure class="pcl-figure"`: 1,
			"<script": 1, `<div style="display:none"><figure`: 1, "http": 0,
		})
	}
	if _, ok := shown[2].Data[protocol.MIMEImagePNG].([]byte); !ok || shown[2].Metadata != nil {
		t.Errorf("an image has %v", shown[2])
	}
}

// framesOf reads what exported pages draw a display from.
func framesOf(t *testing.T, d *protocol.DisplayData, n int) *viz.Frames {
	t.Helper()
	data, _ := d.Data[viz.MediaType].(string)
	f, err := viz.ReadFrames([]byte(data))
	switch {
	case err != nil:
		t.Fatal(err)
	case len(f.Drawings) != n:
		t.Fatalf("len(f.Drawings) is %d; want %d", len(f.Drawings), n)
	case f.Drawings[0].Name != "toy-paths":
		t.Fatalf("f.Drawings[0].Name is %q; want %q", f.Drawings[0].Name, "toy-paths")
	case f.Drawings[0].Values == "":
		t.Fatal("f.Drawings[0].Values is empty")
	}
	return f
}

func TestText(t *testing.T) {
	shown, _ := notebook(t, "text")
	if len(shown) != 1 {
		t.Fatalf("shown: %v", shown)
	}
	for _, want := range []string{
		`>a &amp; b</th>`, `<td style="text-align:left">x&lt;y</td>`, `<td style="text-align:right">1.235</td>`,
		`<td style="text-align:left;white-space:normal">a text of more than forty characters wraps</td>`,
		`<td style="text-align:right">–</td>`,
	} {
		if !strings.Contains(pageOf(shown[0]), want) {
			t.Errorf("no %s in %s", want, pageOf(shown[0]))
		}
	}
}

func TestValues(t *testing.T) {
	shown, stderr := notebook(t, "values")
	if len(shown) != 5 || stderr != "" {
		t.Fatalf("%d displays, want 5\n%s", len(shown), stderr)
	}
	for i, want := range []map[string]int{
		{"<tr>": 3, ">Name</th>": 1, "hidden": 0}, nil,
		{"data:image/png;base64,": 2, "<br>7</div>": 1, `alt="image 2 of 2"`: 1},
		{"&lt;zero&gt;</div>": 1, `alt="image 1 of 2"`: 1}, nil,
	} {
		data, _ := shown[i].Data[viz.MediaType].(string)
		if frames, err := viz.ReadFrames([]byte(data)); want == nil && (err != nil || len(frames.Drawings) != 1) {
			t.Errorf("display %d: %d figures, %v", i, len(frames.Drawings), err)
		}
		for text, n := range want {
			if got := strings.Count(pageOf(shown[i]), text); got != n {
				t.Errorf("display %d has %q %d times, want %d", i, text, got, n)
			}
		}
	}
}

func TestLive(t *testing.T) {
	shown, _ := notebook(t, "live")
	byID := map[string][]*protocol.DisplayData{}
	for _, d := range shown {
		byID[d.DisplayID] = append(byID[d.DisplayID], d)
	}
	if len(byID) != 2 || byID[""] != nil {
		t.Fatalf("%d places were drawn into, want a bar and a figure", len(byID))
	}
	bar, live := byID[shown[0].DisplayID], byID[shown[len(shown)-1].DisplayID]
	if len(bar) < 2 || len(bar) > 100 {
		t.Errorf("1,000 steps changed the bar %d times", len(bar))
	}
	if begin := pageOf(bar[0]); !strings.Contains(begin, "<progress style") || !strings.Contains(begin, "training</div>") {
		t.Errorf("the bar begins as %s", begin)
	}
	end := pageOf(bar[len(bar)-1])
	switch {
	case !strings.Contains(end, `max="1000" value="1000"`):
		t.Errorf("end is %q; want %q in it", end, `max="1000" value="1000"`)
	case !strings.Contains(end, "training: 1000 of 1000, "):
		t.Errorf("end is %q; want %q in it", end, "training: 1000 of 1000, ")
	case !strings.Contains(end, ", took "):
		t.Errorf("end is %q; want %q in it", end, ", took ")
	case !strings.HasSuffix(end, ", loss 0.5</div>"):
		t.Errorf("end is %q; want %q at its end", end, ", loss 0.5</div>")
	}
	// Drawing takes long enough that the second of five figures may or may not be due.
	if len(live) < 2 || len(live) > 6 {
		t.Errorf("five figures at once were drawn %d times", len(live))
	}
	for i, d := range live { // what changes at once is still, and what is last answers
		framesOf(t, d, 1)
		if got, want := strings.Contains(pageOf(d), "<script"), i == len(live)-1; got != want {
			t.Errorf("figure %d of %d has a script: %v", i+1, len(live), got)
		}
		if keys := strings.Contains(pageOf(d), `tabindex="0"`); keys != (i < len(live)-1) {
			t.Errorf("keys can move figure %d of %d: %t", i+1, len(live), keys)
		}
	}
}

func TestSlider(t *testing.T) {
	shown, _ := notebook(t, "slider")
	if len(shown) != 1 {
		t.Fatalf("%d displays", len(shown))
	}
	if f := framesOf(t, shown[0], 3); f.Start != 2 || f.Labels[1] != "step <2>" {
		t.Errorf("labels %q, the first %d", f.Labels, f.Start)
	}
	counted(t, pageOf(shown[0]), map[string]int{
		"data:image/svg+xml;base64,": 1, `<div style="display:none"><div class="pcl-frames"`: 1, "<output>step 3</output>": 1,
		`max="2" value="2"`: 1, "http": 0, "<script": 1, " hidden": 0,
	})
}

// counted checks how often texts are in a page.
func counted(t *testing.T, page string, times map[string]int) {
	t.Helper()
	for want, n := range times {
		t.Run(want, func(t *testing.T) {
			if got := strings.Count(page, want); got != n {
				t.Errorf("%q %d times, want %d", want, got, n)
			}
		})
	}
}

func TestMistakesAreSaid(t *testing.T) {
	shown, stderr := notebook(t, "mistakes")
	if len(shown) != 0 {
		t.Errorf("shown: %v", shown)
	}
	if n := strings.Count(stderr, "\n"); n != 8 {
		t.Errorf("%d lines say what is wrong with 8 calls:\n%s", n, stderr)
	}
}

func TestBarText(t *testing.T) {
	begin := time.Now()
	first := begin.Add(10 * time.Second) // after a long start
	b := &Bar{title: "runs", begin: begin}
	if got := b.text(first); got != "runs" {
		t.Errorf("before the first step: %q", got)
	}
	if got := (&Bar{title: "runs", begin: begin, closed: true}).text(first); got != "runs, took 10s" {
		t.Errorf("closed without a step: %q", got)
	}
	b.first, b.before, b.total = first, 10, 210
	for _, c := range []struct {
		done  int
		after time.Duration
		want  string
	}{
		{10, 0, "runs: 10 of 210"},
		{60, 5 * time.Second, "runs: 60 of 210, 10/s, ETA 15s"},
		{209, 40 * time.Second, "runs: 209 of 210, 4.97/s, ETA 200ms"},
		{210, 80 * time.Second, "runs: 210 of 210, 2.5/s, took 1m30s"},
	} {
		b.done = c.done
		if got := b.text(first.Add(c.after)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
