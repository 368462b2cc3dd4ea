package pcl

import (
	"context"
	"fmt"
	"slices"
)

// SetNetwork gives the learner the parameters and statistics of a network. Their names and shapes
// must match the model's Layout; otherwise nothing changes, and the error names the first that is
// missing, different or unexpected. The optimiser starts anew.
//
// The network's outputs keep their meaning. A learner without tasks gets the network's, as ended
// tasks without samples in the memory: it can predict, [Learner.Reattach] them, and attach others.
// A learner that has tasks must have the same ones.
//
// Copies of the parameters that the method had asked for are dropped; once a task has ended, iCaRL
// and LwF distil from the new parameters, and a penalty holds the learner to them, as firmly as
// before. The rule of prediction stays the method's: a method that predicts by means computes them
// from the memory, not from the network's.
func (l *Learner) SetNetwork(n *Network) error {
	if n == nil {
		panic("pcl: SetNetwork of no network: LoadNetwork reads one from a file, " +
			"Learner.Network returns that of a learner")
	}
	return l.call(context.Background(), "set network", func() error { return l.setTrained(n) })
}

// SetBackbone gives the learner the parameters of a network before the classifier, and the
// statistics: a start from a network that knows other classes. The classifier and the learner's
// tasks stay as they are. Otherwise it is [Learner.SetNetwork].
func (l *Learner) SetBackbone(n *Network) error {
	if n == nil {
		panic("pcl: SetBackbone of no network: LoadNetwork reads one from a file, " +
			"Learner.Network returns that of a learner")
	}
	return l.call(context.Background(), "set network", func() error {
		theta, err := l.network.parameters()
		if err != nil {
			return err
		}
		values, statistics, err := arrange(l.network.layout(), n.Tensors, true)
		if err != nil {
			return err
		}
		copy(theta, values)
		return l.exchange(theta, statistics)
	})
}

func (l *Learner) setTrained(t *Network) error {
	if err := l.fits(t); err != nil {
		return err
	}
	theta, statistics, err := arrange(l.network.layout(), t.Tensors, false)
	if err != nil {
		return err
	}
	r, err := t.arrived(l.options.Model.Outputs())
	if err != nil {
		return err
	}
	if err := l.exchange(theta, statistics); err != nil {
		return err
	}
	if l.tasks.registry.empty() && !r.empty() { // the network's tasks become those of the learner, and have ended
		skipped := l.tasks.registry.last()
		l.tasks.registry = r
		l.tasks.registry.skip(skipped)
		for id := range r.tasks {
			l.tasks.countEnded(id+1, 1)
		}
	}
	// The present network is the old model of methods that hold on to one, if a task has ended.
	if loss := lossOf(l.method, 1); (loss.Sigmoid || loss.Teacher > 0) && len(l.tasks.endedIDs()) > 0 {
		return l.context().Remember()
	}
	return nil
}

// fits returns an error if the network's tasks are not those of the learner, or its outputs were
// trained for another loss. The loss of a network without a model's key is not known.
func (l *Learner) fits(t *Network) error {
	if len(t.Tasks) == 0 {
		return nil
	}
	same := slices.EqualFunc(t.Tasks, l.Tasks(), func(a, b TaskInfo) bool { return slices.Equal(a.Classes, b.Classes) })
	loss := keyOf(l.options.compared())
	if t.Increment != l.options.Increment {
		return fmt.Errorf("the network is %s-incremental, the learner %s-incremental: use SetBackbone",
			t.Increment, l.options.Increment)
	}
	if !l.tasks.registry.empty() && !same {
		return fmt.Errorf(
			"the network has tasks of the classes %v, the learner of %v: use SetBackbone, or a learner without tasks",
			classLists(t.Tasks), classLists(l.Tasks()))
	}
	if t.Model != "" && t.Loss != loss {
		return fmt.Errorf(
			"the network was trained for the loss %q, the learner is for %q, where none is of classes: use SetBackbone",
			t.Loss, loss)
	}
	return nil
}

func classLists(tasks []TaskInfo) (all [][]int) {
	for _, t := range tasks {
		all = append(all, t.Classes)
	}
	return all
}

// exchange replaces parameters and statistics, which have the right lengths, and tells a method
// that holds on to earlier ones.
func (l *Learner) exchange(theta, statistics []float32) error {
	l.version++
	l.prediction.outdate()
	l.network.updates = 0
	l.network.auxiliary.free()
	copy(l.network.statistics, statistics)
	return l.turns.attempt(byMethod(l.method), func() error {
		if err := l.network.begin(theta); err != nil {
			return err
		}
		if a := l.method.Penalty; a != nil {
			return a.AfterReplace(l.context())
		}
		return nil
	})
}
