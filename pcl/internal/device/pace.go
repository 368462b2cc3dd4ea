package device

import (
	"slices"
	"time"
)

// pace decides whether a step's rows are computed on all clients or one after another on the first,
// which is faster where other programs keep the cores busy. Both are tried from time to time. The
// number of clients changes no bits.
type pace struct {
	steps int // since the last trial
	slow  bool
	times [2][]time.Duration // of the trial, for each row: on all clients, and on one
}

// one says whether the next step is to be made on one client.
func (p *pace) one() bool {
	if p.steps < paceEvery {
		return p.slow
	}
	return len(p.times[1]) < len(p.times[0])
}

// took says how long a row of a step took.
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
