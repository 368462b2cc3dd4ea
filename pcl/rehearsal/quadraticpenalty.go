package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/jsonbits"
	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// quadraticPenalty is a penalty ½kΣsₚ(θₚ−aₚ)² that pulls each parameter to an anchor.
type quadraticPenalty struct {
	Stiffness jsonbits.Vector[float64] `json:"stiffness,omitempty"` // s, never negative; nil before the first task has ended
	Anchor    jsonbits.Vector[float32] `json:"anchor,omitempty"`    // a
	Path      jsonbits.Vector[float64] `json:"path,omitempty"`      // how much each parameter's changes have lowered the losses since a task last ended

	gradient []float32 // reused
}

// pull returns the penalty and its gradient ks⊙(θ−a), or no gradient as long as there is nothing to
// pull.
func (s *quadraticPenalty) pull(ctx PenaltyContext, k float64) (value float64, gradient []float32, err error) {
	if s.Stiffness == nil {
		return 0, nil, nil
	}
	theta, err := ctx.Parameters()
	if err != nil {
		return 0, nil, err
	}
	if len(theta) != len(s.Stiffness) {
		return 0, nil, fmt.Errorf("the penalty is on %d parameters; the model shares %d", len(s.Stiffness), len(theta))
	}
	s.gradient = fp.Grow(s.gradient, len(theta))
	for p, x := range theta {
		away := float64(x) - float64(s.Anchor[p])
		force := k * s.Stiffness[p] * away
		value += force * away / 2
		s.gradient[p] = float32(force)
	}
	return value, s.gradient, nil
}

// AfterReplace moves the anchor to parameters that were given to the network, and clears the path,
// since the way to them lowered no loss. The stiffness stays.
func (s *quadraticPenalty) AfterReplace(ctx PenaltyContext) error {
	clear(s.Path)
	if s.Anchor != nil {
		theta, err := ctx.Parameters()
		if err != nil {
			return err
		}
		s.Anchor = slices.Clone(theta)
	}
	return nil
}

// AfterUpdate does nothing.
func (s *quadraticPenalty) AfterUpdate(PenaltyContext, func() ([]float32, error)) error { return nil }

// MarshalState keeps everything.
func (s *quadraticPenalty) MarshalState() (json.RawMessage, error) { return json.Marshal(s) }

// restore reads what MarshalState wrote, with a path as long as the anchor or without one.
func (s *quadraticPenalty) restore(data json.RawMessage, path bool) error {
	var in quadraticPenalty
	if err := jsonin.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Stiffness != nil && len(in.Stiffness) != len(in.Anchor) || path && len(in.Path) != len(in.Anchor) {
		return fmt.Errorf("a penalty on %d parameters has %d anchors and the ways of %d", len(in.Stiffness), len(in.Anchor),
			len(in.Path))
	}
	for p, x := range in.Stiffness {
		if x < 0 {
			return fmt.Errorf("the stiffness of parameter %d is %g", p, x)
		}
	}
	*s = in
	return nil
}
