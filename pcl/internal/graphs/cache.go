// Package graphs builds and compiles the computations of a learner: nodes in, nodes out. It knows nothing of
// buffers, tasks or steps.
package graphs

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// Spec is everything that the programs of a learner depend on.
type Spec struct {
	Model     model.Model
	Shared    int // how many leading parameters are in J
	Batch     int // samples of a row
	Optimizer optim.Optimizer
}

// Total is the number of parameters.
func (s Spec) Total() int { return s.Model.Layout().Total }

func (s Spec) key() string {
	return fmt.Sprintf("%s shared=%d batch=%d %s", s.Model.Key(), s.Shared, s.Batch, s.Optimizer.Key())
}

// Set holds everything that is compiled for one kind of learner. The gradient of one stream
// and the predictions are compiled once; the Gram matrix and the update once for each number of
// rows. Nothing depends on which streams are active, so nothing recompiles when they change. It may be used
// from several goroutines at once.
type Set struct {
	Spec
	Backend compute.Backend
	counter program.Counter
	mu      sync.Mutex
	made    map[programKey]*program.Program
}

// programKey tells programs apart: what they do, for which loss, on how many rows.
type programKey struct {
	name string
	loss method.Loss
	rows int
}

// lazy returns the program of a key, compiled at its first use.
func (p *Set) lazy(key programKey, in []program.Input, build func(in []*graph.Node) []*graph.Node) (*program.Program, error) {
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
	if err == nil {
		p.made[key] = made
	}
	return made, err
}

// Compilations returns how many programs have been compiled.
func (p *Set) Compilations() int { return p.counter.Count() }

// Cache keeps the sets of programs that were compiled for the clients of one backend.
type Cache struct {
	clients []compute.Backend
	sets    map[string][]*Set
}

// NewCache returns an empty cache; close it before the clients.
func NewCache(clients ...compute.Backend) *Cache {
	return &Cache{clients: clients, sets: map[string][]*Set{}}
}

// Sets returns the programs of a kind of learner, a set for each client.
func (c *Cache) Sets(s Spec) []*Set {
	sets := c.sets[s.key()]
	if sets == nil {
		for _, client := range c.clients {
			sets = append(sets, &Set{Spec: s, Backend: client, made: map[programKey]*program.Program{}})
		}
		c.sets[s.key()] = sets
	}
	return sets
}

// Close releases the compiled code.
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
