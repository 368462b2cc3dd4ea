//go:build cgo

package program_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

func compileOn(t testing.TB, on compute.Backend, inputs []program.Input, build func(n []*graph.Node) []*graph.Node) *program.Program {
	t.Helper()
	p, err := program.Compile(on, new(program.Counter), "test", inputs, build)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestCallReadsOtherClients passes a value from client to client and back.
func TestCallReadsOtherClients(t *testing.T) {
	b := pcltest.Clients(t, 2)
	inputs := []program.Input{{Name: "a", Shape: vector}, {Name: "b", Shape: vector}}
	first, second := compileOn(t, b, inputs, sumAndDifference), compileOn(t, b.Clients()[1], inputs, sumAndDifference)
	x, y := upload(t, b, 1, 2, 3), upload(t, b, 10, 20, 30)
	defer program.Free(x, y)
	alive := pjrt.BuffersAlive()
	for range 100 {
		there, err := second.Call(x, y) // 11 22 33, −9 −18 −27
		if err != nil {
			t.Fatal(err)
		}
		back, err := first.Call(there[0], x) // 12 24 36, 10 20 30
		if err != nil {
			t.Fatal(err)
		}
		program.Free(there...)
		got := download(t, back...)
		if !slices.Equal(got[0], []float32{12, 24, 36}) || !slices.Equal(got[1], []float32{10, 20, 30}) {
			t.Fatalf("sum and difference are %v", got)
		}
	}
	if got := pjrt.BuffersAlive(); got > alive {
		t.Errorf("%d buffers, %d before", got, alive)
	}
}

// TestDonatedByAnotherClient: what a client donates to another one's program is gone after the call.
func TestDonatedByAnotherClient(t *testing.T) {
	b := pcltest.Clients(t, 2)
	second := compileOn(t, b.Clients()[1], []program.Input{{Name: "state", Shape: vector, Donate: true}, {Name: "step", Shape: vector}},
		func(n []*graph.Node) []*graph.Node { return []*graph.Node{graph.Add(n[0], n[1])} })
	state, step := upload(t, b, 0, 0, 0), upload(t, b, 1, 2, 3)
	defer program.Free(step)
	given := state
	for range 10 {
		out, err := second.Call(state, step)
		if err != nil {
			t.Fatal(err)
		}
		state = out[0]
	}
	if got := download(t, state)[0]; !slices.Equal(got, []float32{10, 20, 30}) {
		t.Errorf("after ten steps %v", got)
	}
	if err := program.ToHost(make([]float32, 3), given); err == nil {
		t.Error("the donated buffer is still there")
	}
	if err := program.ToHost(make([]float32, 3), step); err != nil {
		t.Errorf("what was not donated is gone: %v", err)
	}
}

// A buffer that is gone, and one of another kind of backend, are errors that name the program.
func TestForeignErrors(t *testing.T) {
	b, pure := pcltest.Clients(t, 2), pcltest.Backend(t, backend.Go)
	p := compileOn(t, b.Clients()[1], []program.Input{{Name: "a", Shape: vector}, {Name: "b", Shape: vector}}, sumAndDifference)
	x, gone, elsewhere := upload(t, b, 1, 2, 3), upload(t, b, 1, 2, 3), upload(t, pure, 1, 2, 3)
	program.Free(gone)
	defer program.Free(x, elsewhere)
	alive := pjrt.BuffersAlive()
	for name, wrong := range map[string]compute.Buffer{"gone": gone, "pure Go": elsewhere} {
		if _, err := p.Call(x, wrong); err == nil || !strings.Contains(err.Error(), "run test") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if got := pjrt.BuffersAlive(); got > alive {
		t.Errorf("%d buffers, %d before", got, alive)
	}
}

// task computes gradients of a model on some clients: one program for each client, and the batches of
// the rows and θ in memory that the first client owns.
type task struct {
	clients   []compute.Backend
	gradients []*program.Program
	theta     compute.Buffer
	rows      [][]compute.Buffer // pixels, labels
}

// newTask makes k rows of batches. The parameters are what a program of the first client has computed.
func newTask(t testing.TB, b *backend.Backend, clients int, m model.Model, k, batch int) *task {
	t.Helper()
	s := &task{clients: b.Clients()[:clients]}
	for _, c := range s.clients {
		s.gradients = append(s.gradients, compileOn(t, c, gradientInputs(m, batch), gradientOf(m)))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	theta, err := program.ToDevice(b.Backend, m.Layout().Init(rng), m.Layout().Total)
	if err != nil {
		t.Fatal(err)
	}
	moved, err := compileOn(t, b, gradientInputs(m, batch)[:1], func(n []*graph.Node) []*graph.Node {
		return []*graph.Node{graph.MulScalar(n[0], 0.5)}
	}).Call(theta)
	if err != nil {
		t.Fatal(err)
	}
	program.Free(theta)
	s.theta = moved[0]
	for range k {
		x, onX, err := program.Shared[float32](b.Backend, batch, m.Inputs())
		if err != nil {
			t.Fatal(err)
		}
		label, onLabel, err := program.Shared[int32](b.Backend, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			x[i] = rng.Float32()
		}
		for i := range label {
			label[i] = int32(rng.IntN(m.Outputs()))
		}
		s.rows = append(s.rows, []compute.Buffer{onX, onLabel})
	}
	t.Cleanup(func() {
		program.Free(s.theta)
		for _, r := range s.rows {
			program.Free(r...)
		}
	})
	return s
}

// run computes the rows' gradients and losses, each row on whichever client is free.
func (s *task) run() ([][]compute.Buffer, error) {
	out, errs := make([][]compute.Buffer, len(s.rows)), make([]error, len(s.rows))
	next := make(chan int, len(s.rows))
	for i := range s.rows {
		next <- i
	}
	close(next)
	compute := func(p *program.Program) {
		for i := range next {
			out[i], errs[i] = p.Call(s.theta, s.rows[i][0], s.rows[i][1])
		}
	}
	if len(s.gradients) == 1 {
		compute(s.gradients[0])
		return out, errors.Join(errs...)
	}
	var busy sync.WaitGroup
	for _, p := range s.gradients {
		busy.Go(func() { compute(p) })
	}
	busy.Wait()
	return out, errors.Join(errs...)
}

// gradientInputs are those of a program that takes parameters, pixels and labels.
func gradientInputs(m model.Model, batch int) []program.Input {
	return []program.Input{
		{Name: "theta", Shape: shapes.Make(dtypes.Float32, m.Layout().Total)},
		{Name: "x", Shape: shapes.Make(dtypes.Float32, batch, m.Inputs())},
		{Name: "label", Shape: shapes.Make(dtypes.Int32, batch)},
	}
}

// gradientOf builds the gradient of the mean cross-entropy, flat, and its value.
func gradientOf(m model.Model) func(n []*graph.Node) []*graph.Node {
	return func(n []*graph.Node) []*graph.Node {
		batch := n[2].Shape().Dimensions[0]
		share := graph.MulScalar(graph.Ones(n[0].Graph(), shapes.Make(dtypes.Float32, batch)), 1/float64(batch))
		t := model.Targets{Label: n[2], Lo: graph.ZerosLike(n[2]), Hi: graph.AddScalar(graph.ZerosLike(n[2]), float64(m.Outputs())), Weight: share}
		params := m.Layout().Split(n[0])
		duals := make([]model.Dual, len(params))
		for i := range params {
			duals[i].Value = params[i]
		}
		out := m.Forward(model.Pass{Params: duals, X: model.Dual{Value: n[1]}, Weight: share})
		loss := model.CrossEntropy(out.Logits, t).Value
		return []*graph.Node{model.Join(graph.Gradient(loss, params...)), loss}
	}
}

// TestClientsGiveTheSameBits computes gradients on one client, on two and on three.
func TestClientsGiveTheSameBits(t *testing.T) {
	b := pcltest.Clients(t, 3)
	m, err := model.NewMLP(50, []int{40, 30}, 20)
	if err != nil {
		t.Fatal(err)
	}
	gradients := func(clients int) (all [][]uint32) {
		s := newTask(t, b, clients, m, 5, 16)
		out, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			flat := make([]float32, m.Layout().Total)
			if err := program.ToHost(flat, o[0]); err != nil {
				t.Fatal(err)
			}
			program.Free(o...)
			bits := make([]uint32, len(flat))
			for i, x := range flat {
				bits[i] = math.Float32bits(x)
			}
			all = append(all, bits)
		}
		return all
	}
	one := gradients(1)
	if slices.Max(one[0]) == 0 {
		t.Fatal("the gradient is zero")
	}
	for _, n := range []int{2, 3} {
		for i, g := range gradients(n) {
			if !slices.Equal(g, one[i]) {
				t.Errorf("%d clients: gradient %d has other bits", n, i)
			}
		}
	}
}
