package pcl

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
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

	gradient *program.Program
	predict  *program.Program
	grams    map[int]*program.Program
	updates  map[int]*program.Program
}

// Programs keeps what was compiled on one backend, so that learners of equal model, batch size and
// optimiser compile once. It serves one learner at a time.
type Programs struct {
	backend compute.Backend
	sets    map[string]*programs
}

// NewPrograms returns an empty collection; close it before the backend.
func NewPrograms(backend compute.Backend) *Programs {
	return &Programs{backend: backend, sets: map[string]*programs{}}
}

// Close releases the compiled code.
func (p *Programs) Close() {
	for _, set := range p.sets {
		set.close()
	}
	p.sets = nil
}

// set returns the programs of a learner.
func (p *Programs) set(o Options) (*programs, error) {
	key := fmt.Sprintf("%s shared=%d batch=%d %s", o.Model.Key(), o.shared(), o.Batch, o.Optimizer.key())
	if set := p.sets[key]; set != nil {
		return set, nil
	}
	set, err := newPrograms(p.backend, o.Model, o.shared(), o.Batch, o.Optimizer.rule())
	if err != nil {
		return nil, err
	}
	p.sets[key] = set
	return set, nil
}

func newPrograms(backend compute.Backend, m model.Model, shared, batch int, rule optimizerRule) (*programs, error) {
	p := &programs{
		backend: backend, model: m, shared: shared, batch: batch, rule: rule,
		grams: map[int]*program.Program{}, updates: map[int]*program.Program{},
	}
	var err error
	if p.gradient, err = program.Compile(backend, &p.counter, "gradient", p.batchInputs(), p.buildGradient); err != nil {
		return nil, err
	}
	p.predict, err = program.Compile(backend, &p.counter, "predict", p.batchInputs(), p.buildPredict)
	return p, err
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
	p.gradient.Close()
	p.predict.Close()
	for _, g := range p.grams {
		g.Close()
	}
	for _, u := range p.updates {
		u.Close()
	}
}
