// Package rehearsal holds the parts of a rehearsal: the losses of the tasks and of the memory, which samples the
// memory keeps, which of them a step replays, and how a prediction is made. Each part is a small type with its
// parameters as fields, such as [Distill] or [MIR]. [New] joins parts to a [Rehearsal]; method.Make joins a
// rehearsal with a rule that weighs the gradients. Begin with [Part].
package rehearsal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// Memory is the id of the memory's first row. Further rows have negative ids, tasks have ids from 1 on.
const Memory = 0

// PenaltyRow is the id of the row of a [Penalty]. It lies below the ids that rows of the memory have.
const PenaltyRow = -1 << 30

// Axis is one of the choices that a rehearsal makes. Two parts that make the same choice exclude each other.
type Axis string

const (
	// TaskLoss is the loss that the tasks in training are trained on.
	TaskLoss Axis = "task loss"
	// MemoryLoss is the loss, or the losses, that replayed samples are trained on.
	MemoryLoss Axis = "memory loss"
	// Replayed is which of the stored samples a step replays.
	Replayed Axis = "replay"
	// Selection is which samples of a task are stored.
	Selection Axis = "selection"
	// Teaching is what the tasks in training learn from the model as it was when a task last ended.
	Teaching Axis = "teacher"
	// Penalising is what keeps parameters near where earlier tasks left them.
	Penalising Axis = "penalty"
	// Targets is how the logits that are stored with samples change when a task ends.
	Targets Axis = "stored logits"
	// Prediction is how a class is chosen for a sample.
	Prediction Axis = "prediction"
)

// Info describes a part.
type Info struct {
	Name   string `json:"name"`   // as on the command line, e.g. "der-pp"
	Title  string `json:"title"`  // as in print, e.g. "DER++"
	Does   string `json:"does"`   // what it changes, in one line
	Source string `json:"source"` // the publication to cite
	Cost   string `json:"cost"`   // what it adds to a step, in forward (F) and backward (B) passes
	State  string `json:"state"`  // what is remembered between steps, or "none"
	Axes   []Axis `json:"axes"`   // the choices that it makes
}

// Part is one part of a rehearsal: a struct whose tagged fields are its parameters (package params).
type Part interface {
	Info() Info
	// Join adds the part to a rehearsal. [New] has put the defaults in place of zero values, and has checked ranges and
	// choices.
	Join(r *Rehearsal) error
}

// All returns the parts of this package with their defaults.
func All() []Part {
	return []Part{
		Adjust{}, Angular{}, Balanced{}, Distill{}, ERACE{}, EWC{}, Extend{}, GMED{}, GMEDRelease{}, Greedy{}, GSS{}, Herding{}, ICaRL{}, LwF{}, MIR{}, NearestMean{}, PerTask{},
		Refresh{}, Retrain{}, SI{},
	}
}

// Rehearsal is what its parts make together. The zero value is plain experience replay: cross-entropy on a batch
// of the memory that is drawn at random, from samples that are kept at random. A part sets the fields of the
// choices that it makes.
type Rehearsal struct {
	Parts []Part

	// Task is the loss of the tasks' rows.
	Task Loss
	// Teacher and Temperature are those of the tasks' loss, whatever part sets Task.
	Teacher, Temperature float64
	// Adjust is that of all losses of the kind CrossEntropy, whatever part sets them.
	Adjust float64
	// Rows are the memory's rows. nil stands for one row with the zero [Loss].
	Rows []Row
	// Apart shows the rule each of the memory's rows. Otherwise it sees one row, their sum.
	Apart bool
	// PerTask makes one row of each finished task, with the loss of the first of Rows, in place of Rows. Its id is
	// the negative id of the task.
	PerTask bool
	// Draw chooses the samples of the first row. nil stands for a batch drawn at random.
	Draw func(lab ReplayLab) ([]int, error)
	// Evenly says what is replayed equally often, however many samples of it are stored; see [Sharer].
	Evenly Group
	// DrawRemembers says that Draw copies the model as [Remembered] for itself.
	DrawRemembers bool
	// DrawScores says that Draw keeps a score with each stored sample.
	DrawScores bool
	// Edits says that Draw changes what is stored.
	Edits bool
	// DrawAll lets Draw also choose the samples of rows that have samples of their own.
	DrawAll bool

	// Rank returns candidates of a task that has ended in order of preference within each class, at most quota of
	// each. nil stands for a choice at random.
	Rank func(lab Lab, candidates []memory.Item, quota int) ([]memory.Item, error)
	// Pool is how many candidates of each class are collected for Rank while a task runs. It is never fewer than
	// the memory can take.
	Pool int
	// Store fills the memory while tasks run, in place of candidates at the end of a task.
	Store Storer
	// Logits stores each sample with the logits of the model at the end of its task.
	Logits bool
	// Renew returns the new logits to be stored with a sample when a task ends, of the old ones, those of the present
	// model, and the output of the right class. nil leaves stored logits as they are.
	Renew func(old, now []float32, right int) []float32
	// OfClasses says that what is stored or compared are the logits of classes, which a loss of one's own has not.
	OfClasses bool
	// Remember copies the model whenever a task ends, as [Remembered].
	Remember bool

	// Penalty is a row that is a gradient of the parameters alone. It may also be a [Tracker], a [Consolidator], and
	// [Stateful].
	Penalty Penalty
	// PenaltyApart shows the rule the penalty as a row of its own. Otherwise it is added to the memory's row or, if the
	// rule sees several of these, to the first.
	PenaltyApart bool

	// Predict replaces the prediction of the class with the largest logit.
	Predict Predictor
}

// Group is what samples may be replayed by.
type Group string

const (
	// EachSample: all samples equally often.
	EachSample Group = ""
	// EachClass: a batch has all stored classes in equal shares.
	EachClass Group = "class"
	// EachTask: each finished task has a batch of its own.
	EachTask Group = "task"
)

// Row is one of the memory's rows.
type Row struct {
	ID   int // [Memory] or negative
	Loss Loss
	// OwnDraw gives the row samples of its own. Otherwise it has those of the first row.
	OwnDraw bool
}

// New joins parts to a rehearsal. Two parts that make the same choice are an error, as are values out of range.
func New(parts ...Part) (*Rehearsal, error) {
	if i := slices.Index(parts, nil); i >= 0 {
		return nil, fmt.Errorf("part %d of the rehearsal is nil", i+1)
	}
	r, by := &Rehearsal{Parts: slices.Clone(parts)}, map[Axis]string{}
	for _, p := range parts {
		info := p.Info()
		for _, axis := range info.Axes {
			if other, taken := by[axis]; taken {
				return nil, fmt.Errorf("%s and %s cannot be joined: both set the %s", other, info.Name, axis)
			}
			by[axis] = info.Name
		}
	}
	for _, p := range parts {
		p, err := params.Filled(p)
		if err == nil {
			err = p.Join(r)
		}
		if err != nil {
			return nil, fmt.Errorf("rehearsal %s: %w", p.Info().Name, err)
		}
	}
	r.Task.Teacher, r.Task.Temperature = r.Teacher, r.Temperature
	r.adjust()
	return r, r.check()
}

// adjust adds Adjust to the losses that it is for.
func (r *Rehearsal) adjust() {
	if r.Adjust == 0 {
		return
	}
	r.Task.Adjust, r.Rows = r.Adjust, r.rows()
	for i := range r.Rows {
		if r.Rows[i].Loss.Kind == CrossEntropy {
			r.Rows[i].Loss.Adjust = r.Adjust
		}
	}
}

// check refuses what no two parts see of each other.
func (r *Rehearsal) check() error {
	for _, row := range r.Rows {
		if r.PerTask && (len(r.Rows) > 1 || row.Loss.Kind == StoredLogits) {
			return fmt.Errorf("rehearsal %s: a row for each finished task has one loss, of labels: with der-pp set rows=joined, draws=one and beta above 0; with mdmtr leave distill at 0", r.Name())
		}
	}
	if r.Remember && r.DrawRemembers {
		return fmt.Errorf("rehearsal %s: two parts want to remember the model, at different times", r.Name())
	}
	if r.Adjust > 0 && r.Teacher > 0 {
		return fmt.Errorf("rehearsal %s: adjusted logits and a teacher do not fit into one loss", r.Name())
	}
	for _, row := range r.Rows {
		if row.Loss.Adjust > 0 && row.Loss.Distill > 0 {
			return fmt.Errorf("rehearsal %s: adjusted logits and stored ones do not fit into one loss; set draws=two of der-pp, or write emgd-log+der-pp+herding+ncm in place of emgd", r.Name())
		}
	}
	if r.Teacher > 0 && r.Task.Kind != CrossEntropy {
		return fmt.Errorf("rehearsal %s: the tasks' loss has targets of the old model already", r.Name())
	}
	if _, byGradient := r.Store.(gss); byGradient && len(r.Rows) > 0 && r.Rows[0].Loss.Kind == StoredLogits {
		return fmt.Errorf("rehearsal %s: gss compares gradients of the memory's loss, which is 0 for samples whose logits are not stored yet; set beta of der-pp above 0", r.Name())
	}
	if _, scores := r.Store.(gss); scores && r.DrawScores {
		return fmt.Errorf("rehearsal %s: gss and the best_loss of mir each keep a score with the stored samples, which have one; leave best_loss out", r.Name())
	}
	if r.Renew != nil && !r.Logits {
		return fmt.Errorf("rehearsal %s: it changes stored logits, but nothing is trained on them: add der-pp with alpha > 0", r.Name())
	}
	if r.PerTask && r.Penalty != nil && !r.PenaltyApart {
		return fmt.Errorf("rehearsal %s: with a row for each finished task there is no memory row that the penalty could be a part of; set rows=apart for it", r.Name())
	}
	if r.Draw != nil && r.PerTask {
		return fmt.Errorf("rehearsal %s: a row for each finished task leaves no choice of what is replayed", r.Name())
	}
	return nil
}

// Name returns the names of the parts, joined by "+".
func (r *Rehearsal) Name() string {
	names := make([]string, len(r.Parts))
	for i, p := range r.Parts {
		names[i] = p.Info().Name
	}
	return strings.Join(names, "+")
}

// rows returns the rows of the memory with their losses.
func (r *Rehearsal) rows() []Row {
	if r.Rows == nil {
		return []Row{{ID: Memory}}
	}
	return r.Rows
}
