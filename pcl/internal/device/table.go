package device

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// Tables keeps copies of data sets on a device that does not share memory with the host, and the programs that
// gather rows of these tables there. It may be used by several goroutines at once.
type Tables struct {
	backend compute.Backend
	counter program.Counter
	mu      sync.Mutex
	tables  map[tableKey]heldTable
	pickers map[string]*program.Program
}

// tableKey tells tables apart: by their address, and by their size, since one may be the beginning of another.
type tableKey struct {
	first       *uint8
	size, width int
}

// heldTable is a table on the device. It keeps a reference to the host's table, whose address must not be used again
// for another one.
type heldTable struct {
	host   []uint8
	buffer compute.Buffer // nil if the device had no room for it
}

// NewTables returns an empty collection. Close it before the backend is closed.
func NewTables(backend compute.Backend) *Tables {
	return &Tables{backend: backend, tables: map[tableKey]heldTable{}, pickers: map[string]*program.Program{}}
}

// Forget releases all tables, while nobody uses them.
func (r *Tables) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tables {
		program.Free(t.buffer)
	}
	clear(r.tables)
}

// Close releases all tables and programs.
func (r *Tables) Close() {
	r.Forget()
	for _, p := range r.pickers {
		p.Close()
	}
	r.tables, r.pickers = nil, nil
}

// Len returns how many tables the collection knows, including those for which the device had no room.
func (r *Tables) Len() int { return len(r.tables) }

// batch returns rows of a table of the given width as pixels [len(rows), width] in [0,1]. A negative row number
// stands for padding. It returns nil if the device has no room for the table.
func (r *Tables) batch(table []uint8, width int, rows []int32) (compute.Buffer, error) {
	key := tableKey{&table[0], len(table), width}
	r.mu.Lock()
	t, known := r.tables[key]
	if !known {
		t = heldTable{host: table}
		if b, err := program.ToDevice(r.backend, table, len(table)/width, width); err == nil {
			t.buffer = b
		}
		r.tables[key] = t
	}
	r.mu.Unlock()
	if t.buffer == nil {
		return nil, nil
	}
	return r.pick(t.buffer, dtypes.Uint8, len(table)/width, width, rows)
}

// pick gathers rows of a table [n, width].
func (r *Tables) pick(table compute.Buffer, dtype dtypes.DType, n, width int, rows []int32) (compute.Buffer, error) {
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
func (r *Tables) picker(dtype dtypes.DType, n, width, batch int) (*program.Program, error) {
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
		return []*graph.Node{graphs.Rows(in[0], in[1], fp.Unit[:])}
	})
	if err == nil {
		r.pickers[key] = made
	}
	return made, err
}

// Send brings a batch's pixels to the device in advance, so that the step that needs them does not have to wait.
// It does nothing if the device shares memory with the host.
func (r *Tables) Send(b *Batch) (err error) {
	if b.device[0] != nil {
		return nil
	}
	if b.pad(); b.Table != nil {
		b.ahead, err = r.batch(b.Table, len(b.X)/len(b.Class), b.Rows)
	}
	if err == nil && b.ahead == nil {
		b.ahead, err = b.copyPixels(r.backend)
	}
	return err
}
