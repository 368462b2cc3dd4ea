package pcl

import (
	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// row is one stream in one step.
type row struct {
	id      int
	batch   *hostBatch
	indices []int // of the stored samples in it; nil for tasks
	loss    method.Loss
	differentiated
	value    float64           // of the loss, once it was read
	private  float64           // ‖gradient of the private parameters‖², where products were read
	observed []float32         // the batch's statistics, once they were read; until the row is freed
	counted  bool              // they are in the running ones
	halves   [2]compute.Buffer // gradients of the halves of the batch, for methods that need them
}

func (r *row) free() {
	r.differentiated.free()
	program.Free(r.halves[:]...)
	r.observed, r.counted, r.halves = nil, false, [2]compute.Buffer{}
}

// read reads the value and the statistics, of which there are n.
func (r *row) read(n int) error {
	value, err := host(r.objective, 1)
	if err != nil {
		return err
	}
	r.value = float64(value[0])
	if n > 0 {
		r.observed, err = host(r.statistics, n)
	}
	return err
}

// lossOf is what a method trains a row on.
func lossOf(m method.Method, id int) method.Loss {
	if o, ok := method.As[method.Objective](m); ok {
		return o.Loss(id)
	}
	return method.Loss{}
}

// taskRows gathers a row for each running task.
func (l *Learner) taskRows() (rows []row) {
	for _, t := range l.running() {
		if t.ready {
			rows = append(rows, row{id: t.id, batch: t.current, loss: lossOf(l.options.Method, t.id)})
		}
	}
	return rows
}

// memoryRows gathers what is replayed: what the method asks for, or one batch drawn at random.
func (l *Learner) memoryRows() ([]row, error) {
	replays := []method.Replay{{ID: method.Memory}}
	if r, ok := method.As[method.Replayer](l.options.Method); ok {
		var err error
		if replays, err = r.Replays(lab{l}); err != nil {
			return nil, err
		}
	} else {
		replays[0].Indices = l.memory.Draw(l.options.Batch)
	}
	var rows []row
	for i, replay := range replays {
		if len(replay.Indices) == 0 {
			continue
		}
		if i == len(l.replayed) {
			b, err := l.newBatch()
			if err != nil {
				return nil, err
			}
			l.replayed = append(l.replayed, b)
		}
		items := make([]memory.Item, len(replay.Indices))
		for k, index := range replay.Indices {
			items[k] = l.memory.Item(index)
		}
		l.replayed[i].fill(items)
		if err := l.replay(l.replayed[i], replay.Indices); err != nil {
			return nil, err
		}
		rows = append(rows, row{id: replay.ID, batch: l.replayed[i], indices: replay.Indices, loss: lossOf(l.options.Method, replay.ID)})
	}
	return rows, nil
}

// host returns the n entries of a buffer of float32, in place where the device shares memory with the host.
func host(g compute.Buffer, n int) ([]float32, error) {
	if g.Backend().HasSharedBuffers() {
		flat, err := g.Data()
		if err != nil {
			return nil, err
		}
		return flat.([]float32), nil
	}
	out := make([]float32, n)
	return out, g.ToFlatData(out)
}

// jacobian returns the shared parts of the rows' gradients in float64.
func (l *Learner) jacobian(kept []int) ([][]float64, error) {
	out := make([][]float64, len(kept))
	for k, i := range kept {
		g, err := host(l.rows[i].gradient, l.programs.total())
		if err != nil {
			return nil, err
		}
		out[k] = make([]float64, l.programs.shared)
		for p := range out[k] {
			out[k][p] = float64(g[p])
		}
	}
	return out, nil
}

// cross returns the inner products of the rows' first halves with their second ones.
func (l *Learner) cross(kept []int) ([]float64, error) {
	var parts [2][]blas32.Vector
	for h := range parts {
		for _, i := range kept {
			g, err := host(l.rows[i].halves[h], l.programs.total())
			if err != nil {
				return nil, err
			}
			parts[h] = append(parts[h], blas32.Vector{N: l.programs.shared, Inc: 1, Data: g})
		}
	}
	var out []float64
	for _, a := range parts[0] {
		for _, b := range parts[1] {
			out = append(out, blas32.DDot(a, b))
		}
	}
	return out, nil
}

// along replaces the gradients of the rows by one: the given direction over the shared parameters, the
// plain sum of the rows over the private ones.
func (l *Learner) along(direction []float64, kept []int) (compute.Buffer, error) {
	total := make([]float32, l.programs.total())
	for p, x := range direction {
		total[p] = float32(x)
	}
	for _, i := range kept {
		g, err := host(l.rows[i].gradient, len(total))
		if err != nil {
			return nil, err
		}
		for p := len(direction); p < len(total); p++ {
			total[p] += g[p]
		}
	}
	return program.ToDevice(l.options.Backend, total, len(total))
}
