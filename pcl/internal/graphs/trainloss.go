package graphs

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TrainingLosses returns the program (θ, x, targets[, reference]) → the loss of each sample, [B], and with weighted
// samples the weight of each, [B]. As in [Set.Gradient], whose loss is their weighted mean, a batch is normalised by its
// own statistics.
func (p *Set) TrainingLosses(l rehearsal.Loss) (*program.Program, error) {
	return p.lazy(programKey{"training losses", l, 0}, p.batchInputs(Referenced(l)), func(in []*graph.Node) []*graph.Node {
		s := p.open(in, p.Model.Layout().Split(in[0]), nil)
		out := []*graph.Node{s.losses(l).Value}
		if p.Weighted {
			out = append(out, s.weight)
		}
		return out
	})
}
