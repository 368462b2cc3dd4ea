// Package program compiles a graph once and runs it on device buffers whose life the caller
// controls: device memory is invisible to Go's collector, so every buffer has one owner that
// finalises it.
package program

import (
	"fmt"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Input declares one parameter of a program.
type Input struct {
	Name  string
	Shape shapes.Shape
	// Donate gives the buffer to the call: it is gone afterwards, and its space may hold an output.
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

// Counter counts compilations; one belongs to each learner.
type Counter struct{ n atomic.Int64 }

// Count returns the number of programs compiled so far.
func (c *Counter) Count() int { return int(c.n.Load()) }

// Compile builds and compiles a program for a backend, or for one of its clients; several may compile at
// the same time. build may panic, as graph-building code does; the panic
// becomes the error.
func Compile(on compute.Backend, counter *Counter, name string, inputs []Input, build func(in []*graph.Node) []*graph.Node) (p *Program, err error) {
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
	counter.n.Add(1)
	return made, nil
}

// Call runs the program and returns its outputs, which the caller owns. It blocks until the
// device has finished. Donated inputs are spent, also after an error. Inputs may belong to other clients
// of the same backend, and are then read where they are.
func (p *Program) Call(inputs ...compute.Buffer) (out []compute.Buffer, err error) {
	defer recoverTo(&err, "run "+p.name)
	donate := p.donate
	if p.anyForeign(inputs) {
		v, err := p.viewed(inputs)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", p.name, err)
		}
		defer v.free()
		inputs, donate = v.inputs, v.donate
	}
	out, err = p.executable.Execute(inputs, donate, 0)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", p.name, err)
	}
	return out, nil
}

// Close releases the compiled code.
func (p *Program) Close() {
	if p != nil && p.graph != nil {
		p.graph.Finalize()
		p.graph = nil
	}
}

func recoverTo(err *error, what string) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%s: %w", what, r)
	default:
		*err = fmt.Errorf("%s: %v", what, r)
	}
}
