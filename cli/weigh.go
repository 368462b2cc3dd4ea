package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// weighCmd is `pcl weigh`. It answers problems that it reads as JSON, one a line, until the input
// ends. Other implementations can be compared with it, and programs in other languages can use it
// as a server; docs/weigh.md has the protocol.
type weighCmd struct {
	Method string   `required:"" help:"Method; pcl methods lists them."`
	Param  assigned `placeholder:"NAME=VALUE" help:"Parameter of the method; may be repeated."`
	Seed   uint64   `default:"0" help:"Seed of methods that draw random numbers."`
	State  string   `type:"path" placeholder:"FILE" help:"Load the method's state from this file, if it exists, and save the new state to it."`
}

func (c *weighCmd) Run(rc *runContext) error {
	rule, err := usage(weigh.New(c.Method, parameters(c.Param), c.Seed))
	if err != nil {
		return err
	}
	w := &weigher{rule}
	sayWhatIsLeftOut(rc, c.Method, rule)
	if rule.Follows() {
		rc.note("pcl weigh: %s learns from the losses of the same batches after each step: without \"losses_after\" its "+
			"weights do not change", c.Method)
	}
	if c.State == "" {
		return w.serve(rc.stdin, rc.stdout)
	}
	if state, err := regular.ReadFile(c.State); !errors.Is(err, fs.ErrNotExist) { // otherwise the rule begins
		if err != nil {
			return err
		}
		if err := rule.SetState(state); err != nil {
			return fmt.Errorf("%s: %w", c.State, err)
		}
	}
	defer rc.hold()() // an interrupt ends the input, and the state after the last answer is saved
	refused := w.serve(rc.input(), rc.stdout)
	state, err := rule.State()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(c.State, append(state, '\n')); err != nil {
		return err
	}
	return cmp.Or(rc.ctx.Err(), refused)
}

// weigher answers one request after another with one rule, which may remember earlier ones.
type weigher struct{ rule *weigh.Rule }

type answer struct {
	Weights []float64 `json:"weights"`
	// Dropped are the ids of the rows that were left out, because their gradient is negligible
	// beside the longest.
	Dropped []int `json:"dropped,omitempty"`
	// Direction is Jᵀw, or the direction that the method itself returned (graddrop, …). It is null
	// if only the Gram matrix was given, or if it was not wanted.
	Direction   []float64      `json:"direction"`
	Certificate *emgdStatement `json:"certificate"` // null for methods without one
}

// emgdStatement is a certificate of package emgd as JSON. Rows in active and dropped are counted
// from 0. Slacks are in units of 4^exponent; an exponent of 0 is left out.
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

// answer computes the weights of a problem.
func (w *weigher) answer(q *request) (*answer, error) {
	a := &answer{Weights: make([]float64, max(len(q.Jacobian), len(q.Gram)))}
	problem, err := q.problem()
	if err != nil {
		return nil, err
	}
	out, err := w.rule.Weights(problem, a.Weights)
	if err != nil {
		return nil, err
	}
	a.Dropped, a.Direction = out.Dropped, slices.Clone(out.Direction)
	if c := out.Certificate; c != nil {
		a.Certificate = &emgdStatement{
			Sigma: c.Sigma, Slacks: c.Slacks, Exponent: c.Exponent, Gap: c.Gap, Violation: c.Violation,
			Active: append([]int{}, c.Active...), Dropped: c.Dropped, Status: c.Status.String(), Message: c.Message(),
		}
	}
	return a, nil
}

// sayWhatIsLeftOut tells the user if the method does more than compute weights.
func sayWhatIsLeftOut(rc *runContext, name string, rule *weigh.Rule) {
	if more := rule.LeavesOut(); len(more) > 0 {
		rc.note("%s: %s also has %s, which this command leaves out: the weights are those for the rows as given", rc.command,
			name, strings.Join(more, " and "))
	}
}
