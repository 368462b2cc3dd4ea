package device

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Spec is everything that the programs of a learner depend on.
type Spec struct {
	Model     model.Model
	Shared    int // how many of the parameters are shared, counted from the first
	Batch     int // how many samples a batch has, padding included
	Optimizer optim.Optimizer
	Loss      model.Loss // nil stands for the cross-entropy of classes
}

// Width returns the number of a sample's values: its inputs and its target values.
func (s Spec) Width() int { return s.Model.Inputs() + s.targets() }

// targets returns the number of a sample's target values.
func (s Spec) targets() int {
	if s.Loss == nil {
		return 0
	}
	return s.Loss.Targets()
}

func (s Spec) total() int { return s.Model.Layout().Total }

func (s Spec) key() string {
	key := fmt.Sprintf("%s shared=%d batch=%d %s", s.Model.Key(), s.Shared, s.Batch, s.Optimizer.Key())
	if s.Loss != nil {
		key += " " + s.Loss.Key()
	}
	return key
}

// Set holds the programs compiled for one kind of learner. The gradient of one stream and the
// predictions are compiled once, those of a few streams at once where many steps want them, the
// Gram matrix and the update once for each number of rows up to [maxRows]. No program depends on
// which streams are active, so nothing is compiled again when they change. A Set may be used by
// several goroutines at once.
type Set struct {
	Spec
	Backend compute.Backend
	counter atomic.Int64
	mu      sync.Mutex
	made    map[programKey]*program.Program
	asked   map[programKey]int
}

// programKey identifies a program by what it does, for which loss, and on how many rows.
type programKey struct {
	name string
	loss rehearsal.Loss
	rows int
	// running says that batches are normalised with the running statistics, not with their own.
	running bool
	parts   bool // whether it takes the parts of θ
}

// size is the shape of a vector over all parameters.
func (s Spec) size() shapes.Shape { return shapes.Make(dtypes.Float32, s.total()) }

// lazy returns the program with the given key, and compiles it when it is first asked for.
func (p *Set) lazy(key programKey, in []program.Input, build func(in []*graph.Node) []*graph.Node) (*program.Program,
	error) {
	key.loss.Seen, key.loss.Own = false, false // which outputs compete is an input of the program
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.made[key]; made != nil {
		return made, nil
	}
	name := key.name
	if key.rows > 0 {
		name = fmt.Sprintf("%s-%d", name, key.rows)
	}
	made, err := program.Compile(p.Backend, &p.counter, name, in, build)
	if err != nil {
		return nil, err
	}
	p.made[key] = made
	return made, nil
}

// often counts how often a gradient of n batches at parts of θ was wanted. It says whether there is
// a program for it, or should be: compiling takes as long as some hundred calls save.
func (p *Set) often(l rehearsal.Loss, n int) bool {
	l.Seen, l.Own = false, false
	key := programKey{name: byParts, loss: l, rows: n}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[key]++
	return p.made[key] != nil || p.asked[key] > patience
}

const patience = 300

// Cache keeps the sets of programs compiled for the clients of one backend. Close it before the
// clients are closed.
type Cache struct {
	Clients []compute.Backend
	Nice    int // by how much the priority of threads that compute gradients is lower
	sets    map[string][]*Set
}

// Sets returns the programs for one kind of learner: one set for each client.
func (c *Cache) Sets(s Spec) []*Set {
	sets := c.sets[s.key()]
	if sets == nil {
		for _, client := range c.Clients {
			sets = append(sets, &Set{Spec: s, Backend: client, made: map[programKey]*program.Program{},
				asked: map[programKey]int{}})
		}
		if c.sets == nil {
			c.sets = map[string][]*Set{}
		}
		c.sets[s.key()] = sets
	}
	return sets
}

// Close releases all compiled programs.
func (c *Cache) Close() {
	for _, sets := range c.sets {
		for _, set := range sets {
			for _, p := range set.made {
				p.Close()
			}
		}
	}
	c.sets = nil
}
