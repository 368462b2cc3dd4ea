package method

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Composition is a method with a rehearsal, as [Compose] makes it. The zero value is of no use.
type Composition struct {
	rule  Method
	added []rehearsal.Part // those that Compose was given; the rule may bring others

	setup
	rehearsal *rehearsal.Rehearsal
	roles     Roles
	sum       summed
}

// Compose joins a method with parts of a rehearsal (docs/method.md §8), for example
//
//	method.Compose(&method.EMGDGMC{Tau: 10}, &rehearsal.Distill{Alpha: new(0.5)})
//
// A published method may bring parts of its own, which then come first. [New] makes the same method
// from the name "emgd-gmc+der-pp". That parts cannot be joined, or have values out of range, is an
// error of the first call, such as [Start]. Compose panics if the method or a part is nil.
func Compose(rule Method, parts ...rehearsal.Part) *Composition {
	if rule == nil || slices.Contains(parts, nil) {
		panic("method: Compose needs a method and parts that are not nil")
	}
	if c, ok := rule.(*Composition); ok {
		rule, parts = c.rule, slices.Concat(c.added, parts)
	}
	return &Composition{rule: rule, added: parts}
}

// Unwrap returns the rule.
func (c *Composition) Unwrap() Method { return c.rule }

// Info joins the rule's Info with those of the added parts.
func (c *Composition) Info() Info { return described(Describe(c.rule), c.added) }

// Needs returns the rule's.
func (c *Composition) Needs() Needs { return c.rule.Needs() }

// Parts are all parts of the rehearsal.
func (c *Composition) Parts() []rehearsal.Part { return slices.Concat(partsOf(c.rule), c.added) }

// Start joins the parts.
func (c *Composition) Start() (err error) {
	if has[*Composition](c.rule) {
		return errors.New("a composition that is wrapped cannot be composed again; compose first, and wrap then")
	}
	if c.rehearsal, err = rehearsal.New(c.Parts()...); err != nil {
		return err
	}
	rule, r := rolesOf(c.rule), c.rehearsal // CR-MOGM has the rehearsal of the method that it smooths
	if len(c.added) > 0 || has[*CRMOGM](c.rule) {
		if rule.Idler != nil && rule.Idler.Idle() {
			return fmt.Errorf("%s makes no training steps, so that nothing can be joined to it", Describe(c.rule).Name)
		}
		several := has[severalRows](c.rule)
		if (r.Separate || r.SeparatePenalty) && !several && Describe(c.rule).Family == "scl" {
			return fmt.Errorf("%s weighs the tasks against one memory row; set rows=joined, or choose another rule",
				Describe(c.rule).Name)
		}
		c.sum.rows, c.sum.penalty = !r.Separate && !several, r.Penalty != nil && !r.SeparatePenalty
	}
	c.roles = c.join(rule, r.Roles())
	return nil
}

// severalRows are the rules of serial continual learning that know what to do with more than one
// memory row.
type severalRows interface{ severalRows() }

func (*GEM) severalRows()  {}
func (*POCL) severalRows() {}

// described is the Info of a composition: that of the method with those of the added parts.
func described(info Info, added []rehearsal.Part) Info {
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

// Weights asks the rule, which sees the sum of the memory's rows unless a part keeps them apart.
func (c *Composition) Weights(s *Step, w []float64) (Outcome, error) {
	if err := begin(c); err != nil || !c.sum.several(s) {
		if err != nil {
			return Outcome{}, err
		}
		return c.rule.Weights(s, w)
	}
	if err := s.enter(c, w); err != nil {
		return Outcome{}, err
	}
	if err := c.sum.of(s, c.Needs()); err != nil {
		return Outcome{}, err
	}
	out, err := c.rule.Weights(&c.sum.step, c.sum.w)
	clear(c.sum.step.Rows) // most of them are the caller's
	if err == nil {
		c.sum.spread(s, w, &out)
	}
	return out, err
}

// join returns the roles of the rehearsal and, where it has none, those of the rule. The state is
// that of both.
func (c *Composition) join(rule Roles, parts rehearsal.Roles) Roles {
	all := rule
	all.Roles = parts.Or(rule.Roles)
	if states := parts.Savers(); len(states) > 0 {
		all.Stateful = jointState{rule.Stateful, states}
	}
	if rule.Follower != nil {
		all.Follower = joinedFollower{c, rule.Follower}
	}
	return all
}

// joinedFollower passes the rule the loss of the joined row.
type joinedFollower struct {
	c    *Composition
	rule Follower
}

// Follow adds up the losses of the memory's rows.
func (f joinedFollower) Follow(ids []int, losses []float64) error {
	s := &Step{IDs: ids, Losses: losses}
	if len(ids) != len(losses) || !f.c.sum.several(s) { // the rule refuses what does not fit
		return f.rule.Follow(ids, losses)
	}
	if err := f.c.sum.of(s, Needs{Losses: true}); err != nil {
		return err
	}
	return f.rule.Follow(f.c.sum.step.IDs, f.c.sum.step.Losses)
}
