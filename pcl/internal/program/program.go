// Package program compiles a computation graph once and then runs it on buffers of the device. Go's garbage
// collector does not see device memory, so every buffer has one owner, who must finalise it. Begin with [Compile]
// and [Program.Call]. Where the device fails, functions of this package end the work as those of package fail do: nobody
// between them and whoever called the learner could do anything about it.
package program

import (
	"fmt"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Input declares one input of a program.
type Input struct {
	Name  string
	Shape shapes.Shape
	// Donate hands the buffer over to the call, which may reuse its memory for an output. The buffer cannot be used
	// after the call.
	Donate bool
}

// Program is a compiled graph.
type Program struct {
	name       string
	client     compute.Backend
	graph      *graph.Graph
	executable compute.Executable
	donate     []bool
}

// Compile builds and compiles a program for a backend or for one of its clients, and counts it. Several programs may be
// compiled at the same time. build may panic, as graph-building code does; Compile returns the panic as an error.
func Compile(on compute.Backend, counter *atomic.Int64, name string, inputs []Input, build func(in []*graph.Node) []*graph.Node) (p *Program, err error) {
	defer recoverTo(&err, "compile "+name)
	g := graph.NewGraph(on, name)
	nodes := make([]*graph.Node, len(inputs))
	made := &Program{name: name, client: backend.Client(on), graph: g, donate: make([]bool, len(inputs))}
	for i, in := range inputs {
		nodes[i] = graph.Parameter(g, in.Name, in.Shape)
		made.donate[i] = in.Donate
	}
	if err := g.Compile(build(nodes)...); err != nil {
		return nil, fmt.Errorf("compile %s: %w", name, err)
	}
	made.executable = g.Executable()
	counter.Add(1)
	return made, nil
}

// Call runs the program and returns its outputs, which belong to the caller. It waits until the device has
// finished. Donated inputs cannot be used any more, even after a failure. Inputs may belong to other clients of
// the same backend; they are then copied.
func (p *Program) Call(inputs ...compute.Buffer) []compute.Buffer {
	inputs, spent := p.own(inputs)
	defer Free(spent...)
	return fail.Or(p.execute(inputs))
}

func (p *Program) execute(inputs []compute.Buffer) (out []compute.Buffer, err error) {
	defer recoverTo(&err, "run "+p.name)
	if out, err = p.executable.Execute(inputs, p.donate, 0); err != nil {
		err = fmt.Errorf("run %s: %w", p.name, err)
	}
	return out, err
}

// Close releases the compiled code.
func (p *Program) Close() {
	if p != nil && p.graph != nil {
		p.graph.Finalize()
		p.graph = nil
	}
}

// recoverTo turns a panic into an error.
func recoverTo(err *error, what string) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%s: %w", what, r)
	default:
		*err = fmt.Errorf("%s: %v", what, r)
	}
}
