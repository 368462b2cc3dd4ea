// Package program compiles a computation graph once and then runs it on buffers of the device. Go's
// garbage collector does not see device memory, so every buffer has one owner, who must finalise
// it. Begin with [Compile] and [Program.Call].
package program

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Input declares one input of a program.
type Input struct {
	Name  string
	Shape shapes.Shape
	// Donate hands the buffer over to the call, which may reuse its memory for an output. It is
	// given by a pointer, which is nil once the device has the buffer, also after a failure.
	Donate bool
}

// Program is a compiled graph.
type Program struct {
	name       string
	client     compute.Backend
	graph      *graph.Graph
	executable compute.Executable
	shapes     []shapes.Shape // of the inputs
	donate     []bool
}

// Compile builds and compiles a program for a backend or for one of its clients, and counts it.
// Several programs may be compiled at the same time. build may panic, as graph-building code does;
// Compile returns the panic as an error.
func Compile(on compute.Backend, counter *atomic.Int64, name string, inputs []Input,
	build func(in []*graph.Node) []*graph.Node) (p *Program, err error) {
	defer recoverTo(&err, "compile "+name)
	g := graph.NewGraph(on, name)
	nodes := make([]*graph.Node, len(inputs))
	made := &Program{name: name, client: backend.Client(on), graph: g}
	for i, in := range inputs {
		nodes[i] = graph.Parameter(g, in.Name, in.Shape)
		made.shapes, made.donate = append(made.shapes, in.Shape), append(made.donate, in.Donate)
	}
	if err := g.Compile(build(nodes)...); err != nil {
		return nil, fmt.Errorf("compile %s: %w", name, err)
	}
	made.executable = g.Executable()
	counter.Add(1)
	return made, nil
}

// Call runs the program and returns its outputs, which belong to the caller. It waits until the
// device has finished. An input is a buffer, or a pointer to one that is donated; a flat slice of
// numbers, of which the device gets a copy for this call; or a list of inputs. Inputs that are nil
// are left out. Buffers may belong to other clients of the same backend, unless they are donated;
// they are then copied.
func (p *Program) Call(inputs ...any) ([]compute.Buffer, error) {
	c := call{Program: p, in: make([]compute.Buffer, 0, len(p.shapes))}
	defer func() { Free(c.copied...) }()
	if err := c.add(inputs); err != nil {
		return nil, err
	}
	return c.execute()
}

// call is one call of a program.
type call struct {
	*Program
	in      []compute.Buffer
	copied  []compute.Buffer  // made for this call, which does not consume them
	donated []*compute.Buffer // of the caller
}

func (c *call) add(input any) error {
	switch x := input.(type) {
	case nil:
	case []any:
		for _, one := range x {
			if err := c.add(one); err != nil {
				return err
			}
		}
	case []compute.Buffer:
		for _, one := range x {
			if err := c.add(one); err != nil {
				return err
			}
		}
	case []*compute.Buffer:
		for _, one := range x {
			if err := c.add(one); err != nil {
				return err
			}
		}
	case []float32:
		if err := upload(c, x); err != nil {
			return err
		}
	case []int32:
		if err := upload(c, x); err != nil {
			return err
		}
	case []uint8:
		if err := upload(c, x); err != nil {
			return err
		}
	case *compute.Buffer:
		c.in, c.donated = append(c.in, *x), append(c.donated, x)
	case compute.Buffer:
		if c.foreign(x) {
			var err error
			if x, err = backend.Copy(c.client, x); err != nil {
				return err
			}
			c.copied = append(c.copied, x)
		}
		c.in = append(c.in, x)
	default:
		panic(fmt.Sprintf("an input of type %T", input))
	}
	return nil
}

// foreign reports whether a buffer belongs to another client of the same kind of backend. A buffer
// of another kind of backend is left to the executable, which refuses it.
func (p *Program) foreign(b compute.Buffer) bool {
	return b != nil && b.Backend() != p.client && reflect.TypeOf(b.Backend()) == reflect.TypeOf(p.client)
}

// upload copies values to the device, unless there are none.
func upload[T number](c *call, values []T) error {
	if values == nil {
		return nil
	}
	b, err := ToDevice(c.client, values, c.shapes[len(c.in)].Dimensions...)
	if err != nil {
		return err
	}
	c.in, c.copied = append(c.in, b), append(c.copied, b)
	return nil
}

func (c *call) execute() (out []compute.Buffer, err error) {
	defer recoverTo(&err, "run "+c.name)
	for _, b := range c.donated {
		*b = nil
	}
	if out, err = c.executable.Execute(c.in, c.donate, 0); err != nil {
		err = fmt.Errorf("run %s: %w", c.name, err)
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
