// Package rehearsal holds the parts of a rehearsal: the losses of the tasks and of the memory,
// which samples the memory keeps, which of them a step replays, and how a prediction is made. Each
// part is a small type with its parameters as fields, such as &Distill{Alpha: new(0.2)} or &MIR{}.
// [New] joins parts to a [Rehearsal]; method.Compose joins a rehearsal with a rule that weighs the
// gradients. Begin with [Register].
package rehearsal

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// memoryRow is the id of the memory's first row. Further rows have negative ids, tasks have ids
// from 1 on.
const memoryRow = 0

// PenaltyID is the id of the row of a [Penalty]. It lies below the ids that rows of the memory
// have.
const PenaltyID = -1 << 30

// Rehearsal is what its parts make together. The zero value is plain experience replay:
// cross-entropy on a batch of the memory that is drawn at random, from samples that are kept at
// random. A part sets the fields of the choices that it makes.
type Rehearsal struct {
	// Task is the loss of the tasks' rows.
	Task Loss
	// Teacher and Temperature apply to the tasks' loss, whatever part sets Task.
	Teacher, Temperature float64
	// Adjust applies to all cross-entropies, whatever part sets them.
	Adjust float64
	// Rows are the memory's rows. nil stands for one row with the zero [Loss].
	Rows []Row
	// Separate shows the rule each of the memory's rows. Otherwise it sees one row, their sum.
	Separate bool
	// PerTask makes one row of each finished task, with the loss of the first of Rows, in place of
	// Rows. Its id is the negative id of the task.
	PerTask bool
	// Draw chooses the samples of the first row. nil stands for a batch drawn at random. It returns
	// indices for ctx.Memory().Item, at most ctx.Batch() of them; a sample that is drawn twice
	// counts twice. Draw is also called while the memory is empty, and then returns none. An empty
	// result leaves the row out of the step. More indices, or one that the memory does not have,
	// are an error of the step.
	Draw func(ctx ReplayContext) ([]int, error)
	// Shares says how often each stored sample is replayed; see [Replayer]. nil stands for all
	// equally often. A part whose Draw prefers some samples sets it too: [LogitAdjustment] computes
	// the classes' shares of a step from it. It does not change what is drawn.
	Shares func(store *memory.Store, running []int, batch int) []float64
	// DrawRemembers says that Draw copies the model as [Remembered] for itself.
	DrawRemembers bool
	// DrawScores says that Draw keeps a score with each stored sample.
	DrawScores bool
	// DrawAll lets Draw also choose the samples of rows that have samples of their own.
	DrawAll bool

	// Rank returns candidates of a task that has ended in order of preference within each class, at
	// most quota of each. nil stands for a choice at random.
	Rank func(ctx Context, candidates []memory.Item, quota int) ([]memory.Item, error)
	// Pool is how many candidates of each class are collected for Rank while a task runs. It is
	// never fewer than the memory can take.
	Pool int
	// Store fills the memory while tasks run, in place of candidates at the end of a task; see
	// [Storer].
	Store Storer
	// Logits stores each sample with the logits of the model at the end of its task.
	Logits bool
	// UpdateLogits returns the new logits to be stored with a sample when a task ends, of the old
	// ones, those of the present model, and the output of the right class. nil leaves stored logits
	// as they are.
	UpdateLogits func(old, now []float32, right int) []float32
	// Limits say where the parts cannot be used.
	Limits Limits
	// Remember copies the model whenever a task ends, as [Remembered].
	Remember bool

	// Penalty is a row that is a gradient of the parameters alone. It may also be a [Saver].
	Penalty Penalty
	// SeparatePenalty shows the rule the penalty as a row of its own. Otherwise it is added to the
	// memory's row or, if the rule sees several of these, to the first.
	SeparatePenalty bool

	// Predict replaces the prediction of the class with the largest logit.
	Predict Predictor
}

// Row is one of the memory's rows.
type Row struct {
	ID   int // 0, the first of the memory, or negative
	Loss Loss
	// OwnDraw gives the row samples of its own. Otherwise it shares the first row's.
	OwnDraw bool
}

// New joins parts to a rehearsal, and fills in their defaults. Two parts that make the same choice
// are an error, as are values out of range. The choices of a part are the Info.Axes that it was
// registered with and, registered or not, the fields that it sets: only flags, Pool and Limits may
// be set by several parts.
func New(parts ...Part) (*Rehearsal, error) {
	if slices.Contains(parts, nil) {
		panic("rehearsal: New needs parts that are not nil")
	}
	r, by := &Rehearsal{}, map[string]string{}
	for _, p := range parts {
		info := Describe(p)
		for _, axis := range info.Axes {
			if other, taken := by[axis]; taken {
				return nil, fmt.Errorf("%s and %s cannot be joined: both set the %s", other, info.Name, axis)
			}
			by[axis] = info.Name
		}
	}
	for _, p := range parts {
		if err := r.join(p, by); err != nil {
			return nil, err
		}
	}
	r.Task.Teacher, r.Task.Temperature = r.Teacher, r.Temperature
	r.adjust()
	return r, r.check(parts)
}

// join lets a part set its fields, and returns an error if it sets one that another part has set.
// by has the part of each field.
func (r *Rehearsal) join(p Part, by map[string]string) error {
	name := Describe(p).Name
	others := reflect.ValueOf(*r)
	fields := reflect.ValueOf(r).Elem()
	for i := range fields.NumField() {
		if oneSets(fields.Type().Field(i)) {
			fields.Field(i).SetZero()
		}
	}
	err := params.Fill(p)
	if err == nil {
		err = p.Join(r)
	}
	if err != nil {
		return fmt.Errorf("rehearsal %s: %w", name, err)
	}
	for i := range fields.NumField() {
		switch f := fields.Type().Field(i); {
		case !oneSets(f):
		case fields.Field(i).IsZero():
			fields.Field(i).Set(others.Field(i))
		case !others.Field(i).IsZero():
			return fmt.Errorf("%s and %s cannot be joined: both set %s of the rehearsal", by[f.Name], name, f.Name)
		default:
			by[f.Name] = name
		}
	}
	return nil
}

// oneSets says whether only one part may set a field. Flags, Pool and Limits, which says where
// parts cannot be used, add up.
func oneSets(f reflect.StructField) bool {
	return f.Type.Kind() != reflect.Bool && f.Name != "Pool" && f.Name != "Limits"
}

// adjust adds Adjust to the losses that it is for.
func (r *Rehearsal) adjust() {
	if r.Adjust == 0 {
		return
	}
	r.Task.Adjust, r.Rows = r.Adjust, r.rows()
	for i := range r.Rows {
		if l := &r.Rows[i].Loss; !l.Sigmoid && !l.StoredLogits {
			l.Adjust = r.Adjust
		}
	}
}

// check asks the parts whether they fit together.
func (r *Rehearsal) check(parts []Part) error {
	var err error
	switch {
	case r.Remember && r.DrawRemembers:
		err = errors.New("two parts want to remember the model, at different times")
	case r.UpdateLogits != nil && !r.Logits:
		err = errors.New("stored logits are changed, but nothing is trained on them: add der-pp with alpha > 0")
	}
	for _, row := range append(slices.Clone(r.rows()), Row{Loss: r.Task}) {
		err = cmp.Or(err, row.Loss.Validate())
	}
	for _, p := range parts {
		if f, ok := p.(Checker); ok {
			err = cmp.Or(err, f.Check(r))
		}
	}
	if err != nil {
		return fmt.Errorf("rehearsal: %w", err)
	}
	return nil
}

// rows returns the rows of the memory with their losses.
func (r *Rehearsal) rows() []Row {
	if r.Rows == nil {
		return []Row{{ID: memoryRow}}
	}
	return r.Rows
}
