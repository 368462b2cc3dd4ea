package pcl

import (
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// answering has the programs of all predictors on one backend, by network and shape, which stay
// until the backend is closed: a new predictor compiles nothing that an earlier one has compiled.
// They run on clients of their own where there are such, and do not wait for training there.
type answering struct {
	mu      sync.Mutex
	clients []compute.Backend
	cache   device.Cache
}

// answeringKey is the key under which a backend keeps them.
type answeringKey struct{}

// answeringOn returns the programs that predictors on a backend share.
func answeringOn(b *backend.Backend) (*answering, error) {
	kept, err := b.Keep(answeringKey{}, func() (any, func(), error) {
		clients, err := b.Beside(len(b.Clients()))
		if err != nil {
			return nil, nil, err
		}
		a := &answering{clients: clients, cache: device.Cache{Clients: clients}}
		return a, a.cache.Close, nil
	})
	if err != nil {
		return nil, err
	}
	return kept.(*answering), nil
}

// sets returns the programs for batches of a size, on each client. They are compiled for the first
// client only: it takes many samples to make up for compiling them for another one.
func (a *answering) sets(spec device.Spec, at device.At, scores rehearsal.Loss) ([]*device.Set, error) {
	spec = device.Spec{ // all else does not matter for predictions
		Model: spec.Model, Shared: spec.Model.Layout().Total, Batch: spec.Batch, Optimizer: optim.SGD{LR: 1},
	}
	a.mu.Lock()
	sets := a.cache.Sets(spec)
	a.mu.Unlock()
	return sets, sets[0].CompileDescribe(at, scores)
}

// enough returns for how many samples a program of spec.Batch samples is used; fewer are predicted
// one by one. With convolutions a sample costs the same in both. Without them most of the time goes
// into reading the parameters, so that many samples at once cost what few do.
func enough(spec device.Spec) int {
	for _, p := range spec.Model.Layout().Params {
		if len(p.Dims) > 2 {
			return max(2, (spec.Batch+1)/2)
		}
	}
	return max(2, (spec.Batch+7)/8)
}
