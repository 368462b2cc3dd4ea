package pcl

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// TableSamples are samples that are rows of one table of bytes, of which 255 stands for 1. A device of
// its own memory keeps the table, so that batches of [NewStream] and test batches are sent to it as
// numbers of rows.
type TableSamples interface {
	Samples
	// Table returns all rows, one after the other; it is not to change any more.
	Table() []uint8
	// Row returns the number of the row of sample i.
	Row(i int) int
}

// residents are the data sets that a device of its own memory keeps, and the programs that gather rows of
// tables there. They may be used by several goroutines at once.
type residents struct {
	backend compute.Backend
	counter program.Counter
	mu      sync.Mutex
	tables  map[*uint8]heldTable
	pickers map[string]*program.Program
}

// heldTable is a table on the device; the host's is kept so that nothing else takes its address.
type heldTable struct {
	host   []uint8
	buffer compute.Buffer // nil if there was no room
}

func newResidents(backend compute.Backend) *residents {
	return &residents{backend: backend, tables: map[*uint8]heldTable{}, pickers: map[string]*program.Program{}}
}

func (r *residents) close() {
	for _, t := range r.tables {
		program.Free(t.buffer)
	}
	for _, p := range r.pickers {
		p.Close()
	}
	r.tables, r.pickers = nil, nil
}

// batch returns the rows of a table of the given width as a batch, [len(rows), width] in [0,1]; a negative
// row is padding. It returns nil where the device has no room for the table.
func (r *residents) batch(table []uint8, width int, rows []int32) (compute.Buffer, error) {
	r.mu.Lock()
	t, known := r.tables[&table[0]]
	if !known {
		t = heldTable{host: table}
		if b, err := program.ToDevice(r.backend, table, len(table)/width, width); err == nil {
			t.buffer = b
		}
		r.tables[&table[0]] = t
	}
	r.mu.Unlock()
	if t.buffer == nil {
		return nil, nil
	}
	return r.pick(t.buffer, dtypes.Uint8, len(table)/width, width, rows)
}

// pick gathers rows of a table [n, width].
func (r *residents) pick(table compute.Buffer, dtype dtypes.DType, n, width int, rows []int32) (compute.Buffer, error) {
	p, err := r.picker(dtype, n, width, len(rows))
	if err != nil {
		return nil, err
	}
	numbers, err := program.ToDevice(r.backend, rows, len(rows))
	if err != nil {
		return nil, err
	}
	defer program.Free(numbers)
	out, err := p.Call(table, numbers)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// picker returns the program (table [n, width], rows [B]) → pixels [B, width].
func (r *residents) picker(dtype dtypes.DType, n, width, batch int) (*program.Program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprintf("rows-%s-%dx%d-%d", dtype, n, width, batch)
	if made := r.pickers[key]; made != nil {
		return made, nil
	}
	in := []program.Input{
		{Name: "table", Shape: shapes.Make(dtype, n, width)}, {Name: "rows", Shape: shapes.Make(dtypes.Int32, batch)},
	}
	made, err := program.Compile(r.backend, &r.counter, key, in, func(in []*graph.Node) []*graph.Node {
		rows := graph.Reshape(in[1], batch, 1)
		there := graph.GreaterOrEqual(rows, graph.ZerosLike(rows))
		x := graph.Gather(in[0], graph.MaxScalar(rows, 0))
		if dtype == dtypes.Uint8 { // by the host's own table: a device's division may round otherwise
			bytes := graph.Reshape(graph.ConvertDType(x, dtypes.Int32), batch, width, 1)
			x = graph.Reshape(graph.Gather(graph.Reshape(graph.Const(in[0].Graph(), unit[:]), 256, 1), bytes), batch, width)
		}
		return []*graph.Node{graph.Where(graph.BroadcastToDims(there, batch, width), x, graph.ZerosLike(x))}
	})
	if err == nil {
		r.pickers[key] = made
	}
	return made, err
}

// send brings a batch's pixels to the device, unless it reads them in place, so that the step that needs
// them does not wait.
func (l *Learner) send(b *hostBatch) (err error) {
	if b.device[0] != nil {
		return nil
	}
	if b.clean(); b.table != nil {
		b.ahead, err = l.residents.batch(b.table, l.options.Model.Inputs(), b.rows)
	}
	if err == nil && b.ahead == nil {
		b.ahead, err = b.copyPixels(l.options.Backend)
	}
	return err
}
