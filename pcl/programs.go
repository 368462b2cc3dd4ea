package pcl

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// programs holds everything that is compiled for one kind of learner. The gradient of one stream
// and the predictions are compiled once; the Gram matrix and the update once for each number of
// rows. Nothing depends on which streams are active, so nothing recompiles when they change.
type programs struct {
	backend compute.Backend
	counter program.Counter
	model   model.Model
	shared  int // leading parameters that are in J
	batch   int
	rule    optimizerRule
	made    map[programKey]*program.Program
}

// programKey tells programs apart: what they do, for which loss, on how many rows.
type programKey struct {
	name string
	loss method.Loss
	rows int
}

// lazy returns the program of a key, compiled at its first use.
func (p *programs) lazy(key programKey, in []program.Input, build func(in []*graph.Node) []*graph.Node) (*program.Program, error) {
	if made := p.made[key]; made != nil {
		return made, nil
	}
	name := key.name
	if key.rows > 0 {
		name = fmt.Sprintf("%s-%d", name, key.rows)
	}
	made, err := program.Compile(p.backend, &p.counter, name, in, build)
	if err == nil {
		p.made[key] = made
	}
	return made, err
}

// Programs keeps what was compiled on one backend, so that learners of equal model, batch size and
// optimiser compile once, and the data sets that a device of its own memory holds. It serves one learner at a time.
type Programs struct {
	backend   compute.Backend
	sets      map[string]*programs
	residents *residents
}

// NewPrograms returns an empty collection; close it before the backend.
func NewPrograms(backend compute.Backend) *Programs {
	return &Programs{backend: backend, sets: map[string]*programs{}, residents: newResidents(backend)}
}

// Close releases the compiled code.
func (p *Programs) Close() {
	for _, set := range p.sets {
		set.close()
	}
	p.sets = nil
	p.residents.close()
}

// set returns the programs of a learner.
func (p *Programs) set(o Options) (*programs, error) {
	key := fmt.Sprintf("%s shared=%d batch=%d %s", o.Model.Key(), o.shared(), o.Batch, o.Optimizer.key())
	if set := p.sets[key]; set != nil {
		return set, nil
	}
	set := &programs{
		backend: p.backend, model: o.Model, shared: o.shared(), batch: o.Batch, rule: o.Optimizer.rule(),
		made: map[programKey]*program.Program{},
	}
	loss := lossOf(o.Method, method.Memory)
	if _, err := set.gradient(loss); err != nil {
		return nil, err
	}
	if _, err := set.predict(loss); err != nil {
		return nil, err
	}
	p.sets[key] = set
	return set, nil
}

func (p *programs) total() int { return p.model.Layout().Total }

func (p *programs) gradientInputs(k int) []program.Input {
	in := make([]program.Input, k)
	for i := range in {
		in[i] = program.Input{Name: fmt.Sprintf("g%d", i), Shape: shapes.Make(dtypes.Float32, p.total())}
	}
	return in
}

// close releases the compiled code.
func (p *programs) close() {
	for _, made := range p.made {
		made.Close()
	}
}
