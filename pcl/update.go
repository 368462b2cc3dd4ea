package pcl

import (
	"math"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// update makes the optimiser step along d, which is Σ wᵢJᵢ or, if the method returned a direction instead of
// weights, that direction.
func (s *step) update() error {
	r := s.report
	w, rows := r.Weights, s.gradientsKept()
	if d := r.Outcome.Direction; d != nil {
		g, err := s.along(d, s.kept)
		if err != nil {
			return err
		}
		defer program.Free(g)
		w, rows = []float64{1}, []compute.Buffer{g}
	}
	before, err := s.observedTheta()
	if err != nil {
		return err
	}
	norm2, err := s.descend(w, rows)
	if err != nil {
		return err
	}
	if r.Rejected = math.IsNaN(norm2) || math.IsInf(norm2, 0); r.Rejected {
		r.Edit = nil
		return nil
	}
	r.NormD = math.Sqrt(norm2)
	return s.reportRises(before)
}

// observedTheta returns the parameters, nil if the step is not observed.
func (s *step) observedTheta() ([]float32, error) {
	if !s.options.Observe {
		return nil, nil
	}
	return s.parameters()
}

// reportRises reports Jᵢ·Δθ of the rows that took part in the step, if the parameters before it are given.
func (s *step) reportRises(before []float32) error {
	if before == nil {
		return nil
	}
	moved, err := s.parameters()
	if err != nil {
		return err
	}
	for p, x := range before {
		moved[p] -= x
	}
	for _, i := range s.kept {
		along, err := s.rows[i].Along(moved)
		if err != nil {
			return err
		}
		s.report.Rises = append(s.report.Rises, along)
	}
	return nil
}

// updateAgain makes a second update where [Options.ExtraUpdate] asks for it: with the same weights, but with
// the gradients of the same batches at the new θ.
func (s *step) updateAgain() error {
	if !s.options.ExtraUpdate {
		return nil
	}
	if _, err := s.renew(graphs.None); err != nil {
		return err
	}
	return s.descendBeside(s.report.Weights, s.gradientsKept())
}

// descendBeside makes an update besides the step's own, and tells a method that follows the parameters.
func (s *step) descendBeside(w []float64, rows []compute.Buffer) error {
	norm2, err := s.descend(w, rows)
	if err != nil || math.IsNaN(norm2) || math.IsInf(norm2, 0) {
		return err
	}
	return s.moved()
}

// renew computes the gradients of all rows again, at the current θ, for another update, and the inner products that are
// asked for. The running statistics take in the batches of each update. A penalty that has no row as yet is told, too.
func (s *step) renew(asked graphs.Products) (gram []float64, err error) {
	if !slices.ContainsFunc(s.rows, func(r row) bool { return r.id == rehearsal.PenaltyRow }) {
		if _, _, err := s.penalty(); err != nil {
			return nil, err
		}
	}
	s.forget()
	if err := s.penaliseAgain(); err != nil {
		return nil, err
	}
	return s.gradients(asked)
}

// descend makes an optimiser step along d = Σ wᵢ·rowᵢ and returns ‖d‖². If d is not finite, the parameters and
// the optimiser's state stay as they were, and the result is not finite either.
func (s *step) descend(w []float64, rows []compute.Buffer) (norm2 float64, err error) {
	scalars := s.options.Optimizer.Scalars(s.network.updates + 1)
	if s.descent != nil {
		norm2, err = s.descendOnHost(w, rows, scalars)
	} else {
		norm2, err = s.descendOnDevice(w, rows, scalars)
	}
	if err == nil && !math.IsNaN(norm2) && !math.IsInf(norm2, 0) {
		s.network.updates++
	}
	return norm2, err
}

func (s *step) descendOnHost(w []float64, rows []compute.Buffer, scalars []float32) (float64, error) {
	state, err := s.network.onHost(s.programs.Total())
	if err != nil {
		return 0, err
	}
	s.touched = true
	return s.descent.Step(state, w, rows, scalars)
}

func (s *step) descendOnDevice(w []float64, rows []compute.Buffer, scalars []float32) (norm2 float64, err error) {
	w, rows, sum, err := device.Fold(s.programs, w, rows)
	if err != nil {
		return 0, err
	}
	defer program.Free(sum)
	p, err := s.programs.Update(len(rows))
	if err != nil {
		return 0, err
	}
	in, err := s.updateInputs(w, scalars)
	if err != nil {
		return 0, err
	}
	defer program.Free(in...)
	n := &s.network
	all := append([]compute.Buffer{n.theta}, n.state...)
	all = append(append(all, in...), rows...)
	n.theta, n.state = nil, nil // the program reuses their memory for its results
	s.touched = true
	out, err := p.Call(all...)
	if err != nil {
		return 0, err
	}
	last := len(out) - 1
	n.theta, n.state = out[0], out[1:last]
	defer program.Free(out[last])
	var result [1]float64
	err = program.ToHost(result[:], out[last])
	return result[0], err
}

// updateInputs copies the weights and the optimiser's scalars of an update to the device.
func (l *Learner) updateInputs(w []float64, scalars []float32) ([]compute.Buffer, error) {
	weights, err := l.uploadWeights(w)
	if err != nil {
		return nil, err
	}
	h, err := program.ToDevice(l.options.Backend, scalars, len(scalars))
	if err != nil {
		program.Free(weights)
		return nil, err
	}
	return []compute.Buffer{weights, h}, nil
}

func (b lab) StepAhead(gamma float64) error {
	l := b.l
	w, rows := b.s.current()
	if len(rows) == 0 {
		ahead, err := program.Copy(l.network.theta, l.programs.Total())
		if err != nil {
			return err
		}
		program.Free(l.others.ahead)
		l.others.ahead = ahead
		return nil
	}
	w, rows, sum, err := device.Fold(l.programs, w, rows)
	if err != nil {
		return err
	}
	defer program.Free(sum)
	p, err := l.programs.Ahead(len(rows))
	if err != nil {
		return err
	}
	in, err := l.updateInputs(w, optim.SGD{LR: gamma}.Scalars(1))
	if err != nil {
		return err
	}
	defer program.Free(in...)
	out, err := p.Call(append(append([]compute.Buffer{l.network.theta}, in...), rows...)...)
	if err != nil {
		return err
	}
	program.Free(out[1], l.others.ahead)
	l.others.ahead = out[0]
	return nil
}

func (b lab) Update() error {
	w, rows := b.s.current()
	if len(rows) == 0 {
		return nil
	}
	if _, _, err := b.s.penalty(); err != nil { // as before each update
		return err
	}
	if err := b.s.descendBeside(w, rows); err != nil {
		return err
	}
	norms, err := b.s.renew(graphs.Norms)
	if err != nil {
		return err
	}
	b.s.keepFinite(norms)
	return nil
}

// current returns the gradients of the tasks' rows that are finite, and the weights whose sum over them is their average.
func (s *step) current() (w []float64, rows []compute.Buffer) {
	for _, i := range s.kept {
		if r := s.rows[i]; r.id > method.Memory {
			rows = append(rows, r.Flat)
		}
	}
	w = make([]float64, len(rows))
	for i := range w {
		w[i] = 1 / float64(len(w))
	}
	return w, rows
}
