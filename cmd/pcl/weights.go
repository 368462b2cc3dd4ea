package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// weightsCmd answers one JSON value, or a JSON line per problem, with one of its own: the box that
// other implementations can be compared with.
type weightsCmd struct {
	Method string            `required:"" help:"Method; pcl methods lists them."`
	Param  map[string]string `placeholder:"NAME=VALUE" help:"Parameter of the method; repeat it for more."`
	Seed   uint64            `default:"0" help:"Seed of methods that draw."`
	State  string            `type:"path" placeholder:"FILE" help:"Go on from the state in this file, if it is there, and leave the new one in it."`
}

// problem is one value on standard input: the Jacobian J (K rows) or the Gram matrix JJᵀ.
type problem struct {
	Jacobian [][]float64 `json:"jacobian"`
	Gram     [][]float64 `json:"gram"`
	Losses   []float64   `json:"losses"`
	// LossesAfter are those of the same batches after the step, for methods that learn from them (famo).
	LossesAfter []float64 `json:"losses_after"`
	// Sigma are elastic factors to use instead of computed ones (emgd-gmc and emgd-gs).
	Sigma []float64 `json:"sigma"`
	// IDs name the rows; 0 is the memory. Without them rows are tasks 1, 2, …
	IDs []int `json:"ids"`
}

type answer struct {
	Weights []float64 `json:"weights"`
	// Direction is Jᵀw, or the method's own (graddrop, …); null where only the Gram matrix was given.
	Direction   []float64      `json:"direction"`
	Certificate *emgdStatement `json:"certificate"` // null for methods without one
}

type emgdStatement struct {
	Sigma   []float64 `json:"sigma"`
	Slacks  []float64 `json:"slacks"`
	Gap     float64   `json:"gap"`
	Active  []int     `json:"active"`
	Status  string    `json:"status"`
	Message string    `json:"message"`
}

func (c *weightsCmd) Run(rc *runContext) error {
	m, err := method.New(c.Method, parameters(c.Param))
	if err != nil {
		return usageError{err}
	}
	w := &weigher{method: m, rng: seed.New(c.Seed, "method")}
	if c.State == "" {
		return w.answerAll(rc.stdin, rc.stdout)
	}
	if err := w.load(c.State); err != nil {
		return err
	}
	if err := w.answerAll(rc.stdin, rc.stdout); err != nil {
		return err
	}
	return w.save(c.State)
}

// weigher answers problem after problem with one method, which may remember.
type weigher struct {
	method method.Method
	rng    *seed.Source
}

// answerAll answers one JSON value after the other.
func (w *weigher) answerAll(r io.Reader, to io.Writer) error {
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	out := json.NewEncoder(to)
	for n := 1; ; n++ {
		var p problem
		if err := in.Decode(&p); err == io.EOF {
			if n == 1 {
				return errors.New(`nothing on standard input; give {"jacobian": [[…], …]} or {"gram": [[…], …]}`)
			}
			return nil
		} else if err != nil {
			return fmt.Errorf("problem %d: %w", n, err)
		}
		a, err := w.answer(&p)
		if err != nil {
			return fmt.Errorf("problem %d: %w", n, err)
		}
		if err := out.Encode(a); err != nil {
			return fmt.Errorf("problem %d: %w", n, err)
		}
	}
}

func (w *weigher) answer(p *problem) (*answer, error) {
	step, err := p.step(w.method.Info())
	if err != nil {
		return nil, err
	}
	step.Rand = w.rng.Rand
	a := &answer{Weights: make([]float64, step.K())}
	var cert *emgd.Certificate
	var direction []float64
	if p.Sigma != nil {
		cert, err = w.given(p, step, a.Weights)
	} else {
		var out method.Outcome
		out, err = w.method.Weights(step, a.Weights)
		cert, direction = out.Certificate, out.Direction
	}
	if err != nil {
		return nil, err
	}
	if cert != nil {
		a.Certificate = &emgdStatement{
			Sigma: cert.Sigma, Slacks: cert.Slacks, Gap: cert.Gap,
			Active: append([]int{}, cert.Active...), Status: cert.Status.String(), Message: cert.Status.Message(),
		}
	}
	switch {
	case direction != nil:
		a.Direction = slices.Clone(direction)
	case p.Jacobian != nil:
		a.Direction = combine(p.Jacobian, a.Weights)
	}
	if f, ok := method.As[method.Follower](w.method); ok && p.LossesAfter != nil {
		if err := f.Follow(step.IDs, p.LossesAfter); err != nil {
			return nil, err
		}
	}
	for _, x := range append(slices.Clone(a.Weights), a.Direction...) {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, errors.New("the weights or the direction leave the range of float64: scale the gradients down")
		}
	}
	return a, nil
}

// given solves the dual for the elastic factors of the problem.
func (w *weigher) given(p *problem, step *method.Step, weights []float64) (*emgd.Certificate, error) {
	e, ok := w.method.(method.Elastic)
	if !ok {
		return nil, errors.New(`"sigma" needs emgd-gmc or emgd-gs, at rescale=native`)
	}
	if len(p.Sigma) != step.K() {
		return nil, fmt.Errorf("%d elastic factors for %d gradients", len(p.Sigma), step.K())
	}
	out, err := e.WeightsFor(step, p.Sigma, weights)
	return out.Certificate, err
}

// step checks the problem and brings it into the methods' form.
func (p *problem) step(info method.Info) (*method.Step, error) {
	if (p.Jacobian == nil) == (p.Gram == nil) {
		return nil, errors.New(`give either "jacobian" or "gram"`)
	}
	gram, err := p.gram()
	if err != nil {
		return nil, err
	}
	k := int(math.Sqrt(float64(len(gram))))
	s := &method.Step{IDs: p.IDs, Losses: p.Losses, Gram: gram, Rows: p.Jacobian, Cross: gram}
	if s.IDs == nil {
		for i := range k {
			s.IDs = append(s.IDs, i+1)
		}
	}
	if len(s.IDs) != k {
		return nil, fmt.Errorf("%d ids for %d gradients", len(s.IDs), k)
	}
	if p.LossesAfter != nil && len(p.LossesAfter) != k {
		return nil, fmt.Errorf("%d losses_after for %d gradients", len(p.LossesAfter), k)
	}
	if s.Losses != nil && len(s.Losses) != k {
		return nil, fmt.Errorf("%d losses for %d gradients", len(s.Losses), k)
	}
	if info.NeedsRows && s.Rows == nil {
		return nil, fmt.Errorf("%s needs the \"jacobian\", its Gram matrix is not enough", info.Name)
	}
	if s.Losses == nil && info.NeedsLosses {
		return nil, fmt.Errorf("%s needs \"losses\"", info.Name)
	}
	return s, nil
}

// gram returns JJᵀ, row-major.
func (p *problem) gram() ([]float64, error) {
	if p.Gram != nil {
		return square(p.Gram)
	}
	k := len(p.Jacobian)
	if k == 0 || len(p.Jacobian[0]) == 0 {
		return nil, errors.New("the Jacobian is empty")
	}
	out := make([]float64, k*k)
	for i, row := range p.Jacobian {
		if len(row) != len(p.Jacobian[0]) {
			return nil, fmt.Errorf("row %d of the Jacobian has %d entries, row 0 has %d", i, len(row), len(p.Jacobian[0]))
		}
		for j := range i + 1 {
			v := 0.0
			for c, x := range row {
				v += x * p.Jacobian[j][c]
			}
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return nil, fmt.Errorf("rows %d and %d have no finite inner product: scale the Jacobian down", i, j)
			}
			out[i*k+j], out[j*k+i] = v, v
		}
	}
	return out, nil
}

func square(m [][]float64) ([]float64, error) {
	if len(m) == 0 {
		return nil, errors.New("the Gram matrix is empty")
	}
	var out []float64
	for i, row := range m {
		if len(row) != len(m) {
			return nil, fmt.Errorf("row %d of the Gram matrix has %d entries for %d rows", i, len(row), len(m))
		}
		for j := range i {
			if math.Abs(row[j]-m[j][i]) > 1e-9*math.Max(math.Abs(row[j]), math.Abs(m[j][i])) {
				return nil, fmt.Errorf("the Gram matrix is not symmetric: entry (%d,%d) is %g, entry (%d,%d) is %g", i, j, row[j], j, i, m[j][i])
			}
		}
		out = append(out, row...)
	}
	return out, nil
}

// combine returns Σ wᵢJᵢ.
func combine(jacobian [][]float64, w []float64) []float64 {
	d := make([]float64, len(jacobian[0]))
	for i, row := range jacobian {
		for c, x := range row {
			d[c] += w[i] * x
		}
	}
	return d
}
