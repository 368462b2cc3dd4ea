package pcl

import (
	"math"
	"slices"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// update makes the optimiser step along d, which is Σ wᵢJᵢ or, if the method returned a direction
// instead of weights, that direction.
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
	var before []float32
	if s.options.Observe {
		var err error
		if before, err = s.network.parameters(); err != nil {
			return err
		}
	}
	norm2, err := s.descend(w, rows)
	if err != nil {
		return err
	}
	if r.Rejected = !finite(norm2); r.Rejected {
		r.Edit = nil
		return nil
	}
	r.NormD = math.Sqrt(norm2)
	if s.options.Observe {
		return s.reportRises(before)
	}
	return nil
}

// reportRises reports Jᵢ·Δθ of the rows that took part in the step.
func (s *step) reportRises(before []float32) error {
	moved, err := s.network.parameters()
	if err != nil {
		return err
	}
	for p, x := range before {
		moved[p] -= x
	}
	for _, i := range s.kept {
		data, err := s.network.read(s.rows[i].Flat)
		if err != nil {
			return err
		}
		g := blas32.Vector{N: len(moved), Inc: 1, Data: data}
		s.report.Rises = append(s.report.Rises, blas32.DDot(g, blas32.Vector{N: len(moved), Inc: 1, Data: moved}))
	}
	return nil
}

// updateAgain makes a second update where [Options.ExtraUpdate] asks for it: with the same weights,
// but with the gradients of the same batches at the new θ.
func (s *step) updateAgain() error {
	if !s.options.ExtraUpdate {
		return nil
	}
	if _, err := s.renew(device.Products{}); err != nil {
		return err
	}
	return s.descendBeside(s.report.Weights, s.gradientsKept())
}

// descendBeside makes an update besides the step's own, and reports it to the method's penalty.
func (s *step) descendBeside(w []float64, rows []compute.Buffer) error {
	norm2, err := s.descend(w, rows)
	if err != nil || !finite(norm2) {
		return err
	}
	return s.moved()
}

// renew computes the gradients of all rows again, at the current θ, for another update, and the
// inner products that are asked for. The running statistics take in the batches of each update. The
// method's penalty is called even if it has no row yet.
func (s *step) renew(asked device.Products) (gram []float64, err error) {
	if !slices.ContainsFunc(s.rows, func(r row) bool { return r.id == rehearsal.PenaltyID }) {
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

// descend makes an optimiser step along d = Σ wᵢ·rowᵢ and returns ‖d‖². If d is not finite, the
// parameters and the optimiser's state stay as they were, and the result is not finite either.
func (s *step) descend(w []float64, rows []compute.Buffer) (norm2 float64, err error) {
	scalars := s.options.Optimizer.Scalars(s.network.updates + 1)
	theta := s.network.theta
	s.network.edition++
	defer func() { s.touched = s.touched || s.network.theta != theta }() // what the device has taken cannot be undone
	if norm2, err = s.network.programs.Step(s.network.vectors(), w, rows, scalars); err != nil {
		return 0, err
	}
	s.touched = true
	if finite(norm2) {
		s.network.updates++
	}
	return norm2, nil
}

func (c methodContext) VirtualStep(gamma float64) error {
	w, rows := c.step.current()
	ahead, err := c.network.programs.Ahead(c.network.theta, gamma, w, rows)
	if err != nil {
		return err
	}
	program.Free(c.network.auxiliary.ahead)
	c.network.auxiliary.ahead = ahead
	return nil
}

func (c methodContext) Update() error {
	w, rows := c.step.current()
	if len(rows) == 0 {
		return nil
	}
	return c.step.updateAlong(w, rows)
}

// updateAlong makes an update besides the step's own, and computes the gradients of all rows again.
func (s *step) updateAlong(w []float64, rows []compute.Buffer) error {
	if _, _, err := s.penalty(); err != nil { // as before each update
		return err
	}
	if err := s.descendBeside(w, rows); err != nil {
		return err
	}
	norms, err := s.renew(device.Products{Norms: true})
	if err != nil {
		return err
	}
	s.keepFinite(norms)
	return nil
}

// current returns the gradients of the tasks' rows that are finite, and the weights whose sum over
// them is their average.
func (s *step) current() (w []float64, rows []compute.Buffer) {
	for _, i := range s.kept {
		if r := s.rows[i]; r.id > method.MemoryID {
			rows = append(rows, r.Flat)
		}
	}
	w = make([]float64, len(rows))
	for i := range w {
		w[i] = 1 / float64(len(w))
	}
	return w, rows
}
