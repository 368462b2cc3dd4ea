package features

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// Pictures are pictures of one size.
type Pictures struct {
	Height, Width, Channels int     // 1 channel, grey, or 3
	Pixels                  []uint8 // row-major, channels last, one picture after the other
}

func (p Pictures) one() int { return p.Height * p.Width * p.Channels }

// Len returns the number of pictures.
func (p Pictures) Len() int { return len(p.Pixels) / max(1, p.one()) }

// of returns the pixels of a picture.
func (p Pictures) of(i int) []uint8 { return p.Pixels[i*p.one() : (i+1)*p.one()] }

func (p Pictures) check() error {
	if min(p.Height, p.Width) < 1 || p.Channels != 1 && p.Channels != 3 || len(p.Pixels)%p.one() != 0 {
		return fmt.Errorf("features: %d bytes of pictures of %d×%d×%d; want positive sides, 1 or 3 channels, and whole "+
			"pictures",
			len(p.Pixels), p.Height, p.Width, p.Channels)
	}
	return nil
}

// A network computes the features of pictures with the weights of a backbone. Its programs take
// batches of one size, so that a picture has the same features to the bit wherever it stands, and
// beside whatever others. It is for one goroutine at a time.
type network struct {
	backend *backend.Backend
	weights *weights
	size    int
	flips   bool
	batch   int
	width   int // how many values features have; of an ONNX file known when it is ready

	made    map[[3]int][]computer // by the size of the pictures; for each client
	params  [][]compute.Buffer    // for each client
	counter atomic.Int64
}

// A computer computes features of batches on one client. high [size, height] and wide [size, width]
// are the matrices that resize the rows and the columns of a picture.
type computer interface {
	call(x []uint8, high, wide []float32) ([]float32, error)
	Close()
}

// batchSize is how many pictures a batch has, by the side of what the backbone takes: few, so that
// their channels stay in a core's cache. The pure-Go backend rounds differently at different places
// of a batch, and gets one at a time.
func batchSize(on *backend.Backend, size int) int {
	switch {
	case on.Info.Name == backend.Go:
		return 1
	case size <= 160:
		return 4
	}
	return 2
}

func newNetwork(b *backend.Backend, w *weights, s Spec) (*network, error) {
	n := &network{backend: b, weights: w, size: s.Size, flips: s.Flips, batch: batchSize(b, s.Size), width: Width,
		made: map[[3]int][]computer{}}
	for _, client := range b.Clients() {
		var params []compute.Buffer
		for i := range w.layers {
			l := &w.layers[i]
			kernel, err := program.ToDevice(client, l.weights, l.dims()...)
			if err == nil {
				params = append(params, kernel)
				kernel, err = program.ToDevice(client, l.bias, l.out)
			}
			if err != nil {
				n.close()
				return nil, err
			}
			params = append(params, kernel)
		}
		n.params = append(n.params, params)
	}
	return n, nil
}

func (n *network) close() {
	for _, of := range n.made {
		for _, c := range of {
			c.Close()
		}
	}
	for _, params := range n.params {
		program.Free(params...)
	}
	n.made, n.params = nil, nil
}

// ready returns what computes features of pictures of a size, for each client.
func (n *network) ready(p Pictures) ([]computer, error) {
	key := [3]int{p.Height, p.Width, p.Channels}
	if made := n.made[key]; made != nil {
		return made, nil
	}
	made := make([]computer, len(n.backend.Clients()))
	var group errgroup.Group
	for i, client := range n.backend.Clients() {
		group.Go(func() (err error) {
			if f := n.weights.onnx; f != nil {
				made[i], err = f.open(client, n.batch, n.size, p)
			} else {
				made[i], err = n.compile(client, n.params[i], p)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if one, ok := made[0].(*onnxNetwork); ok {
		n.width = one.width
	}
	n.made[key] = made
	return made, nil
}

// compiled is a computer of EfficientNet-Lite0.
type compiled struct {
	*program.Program
	params []compute.Buffer
	batch  int
}

func (n *network) compile(on compute.Backend, params []compute.Buffer, p Pictures) (compiled, error) {
	float := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
	inputs := []program.Input{
		{Name: "x", Shape: shapes.Make(dtypes.Uint8, n.batch, p.Height, p.Width, p.Channels)},
		{Name: "high", Shape: float(n.size, p.Height)}, {Name: "wide", Shape: float(n.size, p.Width)},
	}
	for i := range n.weights.layers {
		l := &n.weights.layers[i]
		inputs = append(inputs, program.Input{Name: l.name, Shape: float(l.dims()...)},
			program.Input{Name: l.name + ".bias", Shape: float(l.out)})
	}
	prog, err := program.Compile(on, &n.counter, "features", inputs, func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{n.weights.run(scaled(in[0], in[1], in[2], n.size), in[3:])}
	})
	return compiled{prog, params, n.batch}, err
}

func (c compiled) call(x []uint8, high, wide []float32) ([]float32, error) {
	in := []any{x, high, wide}
	for _, p := range c.params {
		in = append(in, p)
	}
	out, err := c.Call(in...)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	values, err := program.Read[float32](out[0], c.batch*Width)
	if err != nil {
		return nil, err
	}
	return slices.Clone(values), nil // of memory that ends with its buffer
}

// each computes the features of the pictures with the given numbers, and calls take with those of
// each, from several goroutines.
func (n *network) each(ctx context.Context, p Pictures, which []int, take func(i int, values []float32) error) error {
	computers, err := n.ready(p)
	if err != nil {
		return err
	}
	high, wide := resizing(p.Height, n.size), resizing(p.Width, n.size)
	batches := slices.Collect(slices.Chunk(which, n.batch))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range computers {
		group.Go(func() error {
			b := &batch{network: n, computer: c, x: make([]uint8, n.batch*p.one()), high: high, wide: wide}
			for at := next.Add(1) - 1; int(at) < len(batches); at = next.Add(1) - 1 {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := b.run(p, batches[at], take); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// batch computes the features of batches on one client.
type batch struct {
	*network
	computer
	x          []uint8
	high, wide []float32
}

// run computes those of some pictures, at most as many as the programs take.
func (b *batch) run(p Pictures, which []int, take func(i int, values []float32) error) error {
	clear(b.x) // of the places that stay empty
	for k, i := range which {
		copy(b.x[k*p.one():], p.of(i))
	}
	values, err := b.compute(nil)
	if err == nil && b.flips {
		mirror(b.x, p.Width, p.Channels)
		values, err = b.compute(values)
	}
	for k, i := range which {
		if err != nil {
			return err
		}
		err = take(i, values[k*b.width:(k+1)*b.width])
	}
	return err
}

// compute returns the features of b.x or, if there are others, their mean.
func (b *batch) compute(others []float32) ([]float32, error) {
	values, err := b.call(b.x, b.high, b.wide)
	if err != nil {
		return nil, err
	}
	for i, v := range others {
		values[i] = (values[i] + v) / 2
	}
	return values, nil
}

// mirror exchanges left and right of pictures.
func mirror(x []uint8, width, channels int) {
	for row := range slices.Chunk(x, width*channels) {
		for i, j := 0, len(row)-channels; i < j; i, j = i+channels, j-channels {
			for c := range channels {
				row[i+c], row[j+c] = row[j+c], row[i+c]
			}
		}
	}
}
