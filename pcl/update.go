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

// update makes the optimiser step along d, which is Σ wᵢJᵢ or, if the method returned a direction instead of
// weights, that direction.
func (s *step) update() {
	r := s.report
	w, rows := r.Weights, s.gradientsKept()
	if d := r.Outcome.Direction; d != nil {
		g := s.along(d, s.kept)
		defer program.Free(g)
		w, rows = []float64{1}, []compute.Buffer{g}
	}
	var before []float32
	if s.options.Observe {
		before = s.parameters()
	}
	norm2 := s.descend(w, rows)
	if r.Rejected = !finite(norm2); r.Rejected {
		r.Edit = nil
		return
	}
	r.NormD = math.Sqrt(norm2)
	if s.options.Observe {
		s.reportRises(before)
	}
}

// reportRises reports Jᵢ·Δθ of the rows that took part in the step.
func (s *step) reportRises(before []float32) {
	moved := s.parameters()
	for p, x := range before {
		moved[p] -= x
	}
	for _, i := range s.kept {
		g := blas32.Vector{N: len(moved), Inc: 1, Data: program.Read[float32](s.rows[i].Flat, len(moved))}
		s.report.Rises = append(s.report.Rises, blas32.DDot(g, blas32.Vector{N: len(moved), Inc: 1, Data: moved}))
	}
}

// updateAgain makes a second update where [Options.ExtraUpdate] asks for it: with the same weights, but with
// the gradients of the same batches at the new θ.
func (s *step) updateAgain() {
	if s.options.ExtraUpdate {
		s.renew(device.Products{})
		s.descendBeside(s.report.Weights, s.gradientsKept())
	}
}

// descendBeside makes an update besides the step's own, and tells a method that follows the parameters.
func (s *step) descendBeside(w []float64, rows []compute.Buffer) {
	if finite(s.descend(w, rows)) {
		s.moved()
	}
}

// renew computes the gradients of all rows again, at the current θ, for another update, and the inner products that are
// asked for. The running statistics take in the batches of each update. A penalty that has no row as yet is told, too.
func (s *step) renew(asked device.Products) (gram []float64) {
	if !slices.ContainsFunc(s.rows, func(r row) bool { return r.id == rehearsal.PenaltyRow }) {
		s.penalty()
	}
	s.forget()
	s.penaliseAgain()
	return s.gradients(asked)
}

// descend makes an optimiser step along d = Σ wᵢ·rowᵢ and returns ‖d‖². If d is not finite, the parameters and
// the optimiser's state stay as they were, and the result is not finite either.
func (s *step) descend(w []float64, rows []compute.Buffer) (norm2 float64) {
	scalars := s.options.Optimizer.Scalars(s.network.updates + 1)
	theta := s.network.theta
	defer func() { s.touched = s.touched || s.network.theta != theta }() // what the device has taken cannot be undone
	norm2 = s.programs.Step(s.network.vectors(), w, rows, scalars)
	s.touched = true
	if finite(norm2) {
		s.network.updates++
	}
	return norm2
}

func (b lab) StepAhead(gamma float64) {
	l := b.l
	w, rows := b.s.current()
	ahead := l.programs.Ahead(l.network.theta, gamma, w, rows)
	program.Free(l.others.ahead)
	l.others.ahead = ahead
}

func (b lab) Update() {
	w, rows := b.s.current()
	if len(rows) == 0 {
		return
	}
	b.s.penalty() // as before each update
	b.s.descendBeside(w, rows)
	b.s.keepFinite(b.s.renew(device.Products{Norms: true}))
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
