package pcl

import (
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// apply makes the optimiser step along d: Σ wᵢJᵢ, or what the method gave instead.
func (l *Learner) apply(kept []int, r *StepReport) error {
	w, rows := r.Weights, make([]compute.Buffer, len(kept))
	for k, i := range kept {
		rows[k] = l.rows[i].gradient
	}
	if d := r.Outcome.Direction; d != nil {
		g, err := l.along(d, kept)
		if err != nil {
			return err
		}
		defer program.Free(g)
		w, rows = []float64{1}, []compute.Buffer{g}
	}
	norm2, err := l.descend(w, rows)
	if err != nil {
		return err
	}
	if r.Rejected = math.IsNaN(norm2) || math.IsInf(norm2, 0); !r.Rejected {
		r.NormD = math.Sqrt(norm2)
	}
	return nil
}

// descend makes an optimiser step along Σ wᵢ·rowᵢ and returns ‖d‖², which is not finite if the step was
// refused.
func (l *Learner) descend(w []float64, rows []compute.Buffer) (norm2 float64, err error) {
	p, err := l.programs.update(len(rows))
	if err != nil {
		return 0, err
	}
	in, err := l.updateInputs(w, l.options.Optimizer.hyper(l.update+1))
	if err != nil {
		return 0, err
	}
	defer program.Free(in...)
	all := append([]compute.Buffer{l.theta}, l.state...)
	all = append(append(all, in...), rows...)
	l.theta, l.state = nil, nil // donated
	l.touched = true
	out, err := p.Call(all...)
	if err != nil {
		return 0, err
	}
	last := len(out) - 1
	l.theta, l.state = out[0], out[1:last]
	defer program.Free(out[last])
	var result [1]float64
	if err := program.ToHost(result[:], out[last]); err != nil {
		return 0, err
	}
	if norm2 = result[0]; !math.IsNaN(norm2) && !math.IsInf(norm2, 0) {
		l.update++
	}
	return norm2, nil
}

// updateInputs uploads the weights and the scalars of an update.
func (l *Learner) updateInputs(w []float64, hyper []float32) ([]compute.Buffer, error) {
	weights, err := l.uploadWeights(w)
	if err != nil {
		return nil, err
	}
	h, err := program.ToDevice(l.options.Backend, hyper, hyperSize)
	if err != nil {
		program.Free(weights)
		return nil, err
	}
	return []compute.Buffer{weights, h}, nil
}

func (l *Learner) uploadWeights(w []float64) (compute.Buffer, error) {
	return program.ToDevice(l.options.Backend, single(w), len(w))
}
