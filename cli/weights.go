package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// weightsCmd is `pcl weights`. It reads problems as JSON values, and answers each with a line of JSON. Other
// implementations can be compared with it.
type weightsCmd struct {
	Method string            `required:"" help:"Method; pcl methods lists them."`
	Param  map[string]string `placeholder:"NAME=VALUE" help:"Parameter of the method; repeat it for more."`
	Seed   uint64            `default:"0" help:"Seed of methods that draw random numbers."`
	State  string            `type:"path" placeholder:"FILE" help:"Start with the method's state in this file, if the file exists, and save the new state to it."`
}

// problem is one JSON value on standard input. It holds the Jacobian J, with K rows, or the Gram matrix JJᵀ.
type problem struct {
	Jacobian [][]float64 `json:"jacobian"`
	Gram     [][]float64 `json:"gram"`
	Losses   []float64   `json:"losses"`
	// LossesAfter are the losses of the same batches after the step, for methods that learn from them (famo).
	LossesAfter []float64 `json:"losses_after"`
	// Sigma are elastic factors to use instead of those that emgd-gmc and emgd-gs would compute.
	Sigma []float64 `json:"sigma"`
	// IDs are the rows' task ids; 0 is the memory. If they are missing, the rows are tasks 1, 2, …
	IDs []int `json:"ids"`
}

type answer struct {
	Weights []float64 `json:"weights"`
	// Dropped are the ids of the rows that were left out, because their gradient is negligible beside the longest.
	Dropped []int `json:"dropped,omitempty"`
	// Direction is Jᵀw, or the direction that the method itself returned (graddrop, …). It is null if only the Gram
	// matrix was given.
	Direction   []float64      `json:"direction"`
	Certificate *emgdStatement `json:"certificate"` // null for methods without one
}

// emgdStatement is an [emgd.Certificate] as JSON. Rows in active and dropped are counted from 0. Slacks are in units
// of 4^exponent; an exponent of 0 is left out.
type emgdStatement struct {
	Sigma     []float64 `json:"sigma"`
	Slacks    []float64 `json:"slacks"`
	Exponent  int       `json:"exponent,omitempty"`
	Gap       float64   `json:"gap"`
	Violation float64   `json:"violation"`
	Active    []int     `json:"active"`
	Dropped   []int     `json:"dropped,omitempty"`
	Status    string    `json:"status"`
	Message   string    `json:"message"`
}

func newStatement(c *emgd.Certificate) *emgdStatement {
	return &emgdStatement{
		Sigma: c.Sigma, Slacks: c.Slacks, Exponent: c.Exponent, Gap: c.Gap, Violation: c.Violation,
		Active: append([]int{}, c.Active...), Dropped: c.Dropped, Status: c.Status.String(), Message: c.Message(),
	}
}

func (c *weightsCmd) Run(rc *runContext) error {
	m, err := method.New(c.Method, parameters(c.Param))
	if err != nil {
		return usageError{err}
	}
	w := &weigher{method: m, rng: seed.New(c.Seed, "method"), notes: rc.stderr}
	w.sayWhatIsMissing()
	if c.State == "" {
		return w.answerAll(rc.stdin, rc.stdout)
	}
	if err := w.load(c.State); err != nil {
		return err
	}
	defer rc.hold()() // an interrupt ends the input, and the state after the last answer is saved
	if err := w.answerAll(rc.input(), rc.stdout); err != nil && rc.ctx.Err() == nil {
		return err
	}
	if err := w.save(c.State); err != nil {
		return err
	}
	return rc.ctx.Err()
}

// weigher answers one problem after another with one method, which may remember earlier ones.
type weigher struct {
	method method.Method
	rng    *seed.Source
	notes  io.Writer // where notes for the user go; nil if nowhere
	told   bool      // whether the user was told that the method learns from losses_after
}

// answerAll reads JSON values until the end of the input, and answers each.
func (w *weigher) answerAll(r io.Reader, to io.Writer) error {
	in := jsonin.NewDecoder(r)
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
	var out method.Outcome
	if p.Sigma != nil {
		out, err = w.given(p, step, a.Weights)
	} else {
		out, err = w.method.Weights(step, a.Weights)
	}
	if err != nil {
		return nil, err
	}
	a.Dropped = out.Dropped
	if out.Certificate != nil {
		a.Certificate = newStatement(out.Certificate)
	}
	switch {
	case out.Direction != nil:
		a.Direction = slices.Clone(out.Direction)
	case p.Jacobian != nil:
		a.Direction = combine(p.Jacobian, a.Weights)
	}
	if err := w.follow(step.IDs, p.LossesAfter); err != nil {
		return nil, err
	}
	for _, x := range append(slices.Clone(a.Weights), a.Direction...) {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, errors.New("the weights or the direction leave the range of float64: rescale the gradients")
		}
	}
	return a, nil
}

// follow passes the losses after a step to the method, if it learns from them.
func (w *weigher) follow(ids []int, losses []float64) error {
	f, ok := method.As[method.Follower](w.method)
	switch {
	case !ok:
		return nil
	case losses != nil:
		return f.Follow(ids, losses)
	case !w.told:
		w.told = true
		w.note("%s learns from the losses of the same batches after each step: without \"losses_after\" its weights do not change", w.method.Info().Name)
	}
	return nil
}

// sayWhatIsMissing tells the user if the method does more than compute weights.
func (w *weigher) sayWhatIsMissing() {
	var more []string
	if _, ok := method.As[rehearsal.Objective](w.method); ok {
		more = append(more, "its own loss")
	}
	_, replays := method.As[rehearsal.Replayer](w.method)
	_, curates := method.As[rehearsal.Curator](w.method)
	_, keeps := method.As[rehearsal.Storer](w.method)
	if replays || curates || keeps {
		more = append(more, "its choice of samples for the memory")
	}
	if _, ok := method.As[rehearsal.Predictor](w.method); ok {
		more = append(more, "its rule of prediction")
	}
	if len(more) > 0 {
		w.note("%s also has %s, which this command leaves out: the weights are those for the rows as given", w.method.Info().Name, strings.Join(more, " and "))
	}
}

func (w *weigher) note(format string, args ...any) {
	if w.notes != nil {
		fmt.Fprintf(w.notes, "pcl weights: "+format+"\n", args...)
	}
}

// given computes the weights for the elastic factors that the problem prescribes.
func (w *weigher) given(p *problem, step *method.Step, weights []float64) (method.Outcome, error) {
	e, ok := w.method.(method.Elastic)
	if !ok {
		return method.Outcome{}, errors.New(`"sigma" needs emgd-gmc or emgd-gs, at rescale=native`)
	}
	if len(p.Sigma) != step.K() {
		return method.Outcome{}, fmt.Errorf("%d elastic factors in sigma for %d gradients", len(p.Sigma), step.K())
	}
	return e.WeightsFor(step, p.Sigma, weights)
}

// step checks the problem and converts it to the form that methods take.
func (p *problem) step(info method.Info) (*method.Step, error) {
	if (p.Jacobian == nil) == (p.Gram == nil) {
		return nil, errors.New(`give either "jacobian" or "gram"`)
	}
	gram, exponent, err := p.gram()
	if err != nil {
		return nil, err
	}
	k := max(len(p.Jacobian), len(p.Gram))
	s := &method.Step{IDs: p.IDs, Losses: p.Losses, Gram: gram, Exponent: exponent, Rows: p.Jacobian, Cross: gram}
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

// gram returns the Gram matrix, row-major, of the gradients divided by 2^exponent.
func (p *problem) gram() (gram []float64, exponent int, err error) {
	if p.Gram != nil {
		gram, err = square(p.Gram)
		return gram, 0, err
	}
	if len(p.Jacobian) == 0 || len(p.Jacobian[0]) == 0 {
		return nil, 0, errors.New("the jacobian is empty")
	}
	for i, row := range p.Jacobian {
		if len(row) != len(p.Jacobian[0]) {
			return nil, 0, fmt.Errorf("jacobian row %d has %d entries, row 1 has %d", i+1, len(row), len(p.Jacobian[0]))
		}
	}
	return emgd.Gram(p.Jacobian)
}

func square(m [][]float64) ([]float64, error) {
	if len(m) == 0 {
		return nil, errors.New("the gram matrix is empty")
	}
	var out []float64
	for i, row := range m {
		if len(row) != len(m) {
			return nil, fmt.Errorf("gram row %d has %d entries for %d rows", i+1, len(row), len(m))
		}
		for j := range i {
			if math.Abs(row[j]-m[j][i]) > 1e-9*math.Max(math.Abs(row[j]), math.Abs(m[j][i])) {
				return nil, fmt.Errorf("the gram matrix is not symmetric: row %d, entry %d is %g, but row %d, entry %d is %g", i+1, j+1, row[j], j+1, i+1, m[j][i])
			}
		}
		out = append(out, row...)
	}
	return out, nil
}

// combine returns Σ wᵢJᵢ.
func combine(jacobian [][]float64, w []float64) []float64 {
	d, finite := make([]float64, len(jacobian[0])), true
	for i, row := range jacobian {
		for c, x := range row {
			d[c] += w[i] * x
		}
	}
	for _, x := range d {
		finite = finite && x-x == 0
	}
	if !finite { // perhaps the sum is finite and only an intermediate result overflowed
		clear(d)
		for i, row := range jacobian {
			for c, x := range row {
				d[c] += w[i] * part * (x * part)
			}
		}
		for c := range d {
			d[c] = d[c] / part / part
		}
	}
	return d
}

// part scales the terms of a sum that overflows: each of a term's two factors is multiplied by it.
const part = 0x1p-60
