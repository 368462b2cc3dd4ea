package device

import (
	"slices"
	"time"
)

// paces has a pace for each amount of work: how many rows there are, and how many of them have no
// gradient yet. A step of some methods asks for gradients twice, and times of different work do not
// compare.
type paces map[[2]int]*pace

// of returns the pace for rows; nil if fewer than two have no gradient.
func (p paces) of(rows []*Row) *pace {
	left := 0
	for _, r := range rows {
		if r.Flat == nil {
			left++
		}
	}
	if left < 2 {
		return nil
	}
	key := [2]int{len(rows), left}
	if p[key] == nil {
		p[key] = &pace{steps: paceEvery - paceFirst}
	}
	return p[key]
}

// pace decides whether rows are computed on all clients or one after another on the first, which is
// faster where other programs keep the cores busy. Both are tried from time to time. The number of
// clients changes no bits.
type pace struct {
	steps int // since the last trial
	slow  bool
	times [2][]time.Duration // of the trial: on all clients, and on one
}

// one says whether the next step is to be made on one client.
func (p *pace) one() bool {
	if p.steps < paceEvery {
		return p.slow
	}
	return len(p.times[1]) < len(p.times[0])
}

// took says how long the rows of a step took.
func (p *pace) took(one bool, t time.Duration) {
	if p.steps++; p.steps <= paceEvery {
		return
	}
	i := 0
	if one {
		i = 1
	}
	p.times[i] = append(p.times[i], t)
	if len(p.times[0]) < paceTries || len(p.times[1]) < paceTries {
		return
	}
	for _, t := range p.times {
		slices.Sort(t)
	}
	p.slow = p.times[1][paceTries/2] < p.times[0][paceTries/2]
	*p = pace{slow: p.slow}
}

const (
	paceTries = 7   // of each
	paceFirst = 20  // steps before the first trial
	paceEvery = 250 // steps between trials
)
