package method

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// composed is a rule with a rehearsal.
type composed struct {
	info      Info
	rule      Method
	parts     []any // of the rehearsal
	rehearsal *rehearsal.Rehearsal
	roles     []any // in which [As] looks: those of the rehearsal, and the rule
	sum       summed
}

// compose adds parts to a method.
func compose(m Method, parts ...any) (Method, error) {
	rule, own := apart(m)
	all := slices.Concat(own, parts)
	r, err := rehearsal.New(all...)
	if err != nil {
		return nil, err
	}
	if i, ok := As[Idler](rule); ok && i.Idle() {
		return nil, fmt.Errorf("%s makes no training steps, so that nothing can be joined to it", m.Info().Name)
	}
	c := &composed{info: described(m.Info(), parts), rule: rule, parts: all, rehearsal: r}
	_, several := As[severalRows](rule)
	c.sum.rows, c.sum.penalty = !r.Apart && !several, r.Penalty != nil && !r.PenaltyApart
	if (r.Apart || r.PenaltyApart) && !several && rule.Info().Family == "scl" {
		return nil, fmt.Errorf("%s weighs the tasks against one memory row; set rows=joined, or choose another rule", rule.Info().Name)
	}
	c.assign()
	return c, nil
}

// severalRows are the rules of serial continual learning that know what to do with more than one memory row.
type severalRows interface{ severalRows() }

func (weighted) severalRows() {}
func (*GEM) severalRows()     {}
func (*POCL) severalRows()    {}

// apart takes a method apart into its rule and the parts of its rehearsal.
func apart(m Method) (rule Method, parts []any) {
	if c, ok := m.(*composed); ok {
		return c.rule, c.parts
	}
	return m, nil
}

// described is the Info of a composition: that of the method with those of the added parts.
func described(info Info, added []any) Info {
	for _, p := range added {
		i := rehearsal.Describe(p)
		info.Name += "+" + i.Name
		info.Title += " + " + i.Title
		info.Rule += "; " + i.Does
		info.Source += "; " + i.Source
		info.Cost = listed(info.Cost, " + ", i.Cost)
		info.State = listed(info.State, "; ", i.State)
	}
	return info
}

// listed joins two texts, of which "none" and a leading "none" are left out.
func listed(before, separator, more string) string {
	switch {
	case more == "none":
		return before
	case before == "none":
		return more
	}
	cut := strings.NewReplacer("none; ", "", "none, apart from ", "")
	return cut.Replace(before) + separator + cut.Replace(more)
}

func (c *composed) Info() Info { return c.info }

// Weights asks the rule.
func (c *composed) Weights(s *Step, w []float64) (out Outcome, err error) {
	if !c.sum.several(s) {
		return c.rule.Weights(s, w)
	}
	defer fail.Caught(&err)
	s.check(c.info, w)
	c.sum.of(s, c.info)
	out, err = c.rule.Weights(&c.sum.step, c.sum.w)
	clear(c.sum.step.Rows) // most of them are the caller's
	if err == nil {
		c.sum.spread(s, w, &out)
	}
	return out, err
}

// assign lists the joint state if the rehearsal has one, the role of a rule that must see the memory's rows joined, the roles
// of the rehearsal, and the rule. It does so once, because the learner asks for roles many times in a step.
func (c *composed) assign() {
	c.roles = nil
	parts := c.rehearsal.Roles()
	if states := statesOf(parts); states != nil {
		c.roles = append(c.roles, statefulParts{c, states})
	}
	if f, ok := As[Follower](c.rule); ok {
		c.roles = append(c.roles, joinedFollower{c, f})
	}
	c.roles = append(append(c.roles, parts...), c.rule)
}

// joinedFollower tells the rule the loss of the joined row.
type joinedFollower struct {
	c    *composed
	rule Follower
}

// Follow adds up the losses of the memory's rows.
func (f joinedFollower) Follow(ids []int, losses []float64) error {
	s := &Step{IDs: ids, Losses: losses}
	if len(ids) != len(losses) || !f.c.sum.several(s) { // the rule refuses what does not fit
		return f.rule.Follow(ids, losses)
	}
	f.c.sum.of(s, Info{NeedsLosses: true})
	return f.rule.Follow(f.c.sum.step.IDs, f.c.sum.step.Losses)
}
