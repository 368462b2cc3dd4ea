package rehearsal

import (
	"cmp"
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// These interfaces are the roles that a rehearsal, or a method of your own, can have. The learner
// asks for them by type assertion; it knows no method by name.

// Objective replaces the cross-entropy of the competing outputs by another loss.
type Objective interface {
	// Loss returns the loss of the row with the given id, a task's or the memory's.
	Loss(id int) Loss
}

// Replayer decides which memory rows a step has, and which samples are in them. Without one there
// is one such row, of id 0, with a batch drawn at random. Replays is called after the tasks'
// gradients have been computed.
type Replayer interface {
	Replays(ctx ReplayContext) ([]Replay, error)
	// Shares returns for each stored sample how often it is replayed, on average, where all but the
	// given tasks have ended and a memory row has at most batch samples. The unit is that of a
	// batch: if a step has one memory row, they add up to 1. nil stands for all equally often.
	Shares(store *memory.Store, running []int, batch int) []float64
}

// Replay is a memory row: its id, which is 0 or negative, and the stored samples in it.
type Replay struct {
	ID      int
	Indices []int // indices for [memory.Store.Item], at most [Context.Batch] of them
}

// Curator decides which samples of a task that has ended are kept in the memory. It may store
// logits and scores with them. Without a Curator, the memory takes samples at random.
type Curator interface {
	// Pool returns how many candidates of each class are to be collected while the task runs. quota
	// is how many the memory can take.
	Pool(quota int) int
	// Curate puts the candidates of task id that are to be kept into the memory.
	Curate(ctx Context, id int, candidates []memory.Item) error
}

// Storer fills the memory itself while tasks run. When a task ends, nothing is added.
type Storer interface {
	// Store is called after the update of a step. current has, for each running task, the samples
	// that it sees for the first time in this step.
	Store(ctx Context, current [][]memory.Item) error
}

// Observer sees the samples that tasks train on. Other roles decide which of them the memory keeps.
type Observer interface {
	// Admit returns an error if the observer cannot take a sample. It is called before a step is
	// made with it.
	Admit(x []float32) error
	// Observe is called after the update of a step. current is as for [Storer].
	Observe(ctx Context, current [][]memory.Item) error
}

// Predictor predicts by scores other than the logits, or with other parameters.
type Predictor interface {
	// Prepare is called before the first prediction after a step.
	Prepare(ctx PredictContext) error
	// Snapshot is called after Prepare. It returns the parameters to predict with, [Current] or
	// [Retrained], and the scorer as it is now. Without a scorer, the class with the largest logit
	// is predicted.
	Snapshot() (at Point, s Scorer)
}

// Previewer is a Predictor that can also make a scorer of few samples, at most so many of each
// class. It changes nothing in what Prepare has made.
type Previewer interface {
	Preview(ctx PredictContext, most int) (Scorer, error)
}

// Scorer gives classes scores other than the model's logits. It is immutable, and several
// goroutines use it at once.
type Scorer interface {
	// Score writes a score for each of the given classes, for a sample with the given features; the
	// class with the largest score is predicted, and softmax makes the scores probabilities. If the
	// scorer does not apply to these classes, Score returns false and leaves the scores as they
	// are, which are the logits.
	Score(features []float32, classes []int, scores []float64) bool
}

// InputScorer is a scorer that scores samples by their values alone. The network is not asked.
type InputScorer interface {
	Scorer
	// ScoreInputs returns the scores of the given classes for each of the samples, which lie in x
	// one after another.
	ScoreInputs(x []float32, classes []int) ([][]float64, error)
	// Seen returns how many samples the scorer was made from.
	Seen() int
}

// ValueScorer is a scorer of which Score is given a sample's values, as the network takes them, in
// place of the network's features.
type ValueScorer interface {
	Scorer
	ByValues()
}

// Penalty adds a row to each step: the gradient of a penalty on the parameters, in place of a
// batch's. Its id is [PenaltyID].
type Penalty interface {
	// Penalise returns the penalty at the present parameters and its gradient over the shared ones.
	// No gradient means that there is no such row. It is called before each update. The gradient is
	// valid until it is called again.
	Penalise(ctx PenaltyContext) (value float64, gradient []float32, err error)
	// AfterUpdate is called after each update. current returns its g_cur, the mean of the tasks'
	// gradients over the shared parameters, or 0 where no task took part, which is valid until the
	// next update.
	AfterUpdate(ctx PenaltyContext, current func() ([]float32, error)) error
	// AfterReplace is called when the parameters were set from outside, and not by an update.
	AfterReplace(ctx PenaltyContext) error
	// Samples returns how many samples of each class of a running task Consolidate is to be given.
	// They are fewer only where the task had fewer.
	Samples() int
	// Consolidate is called when a task has ended and the memory has stored its share of it. The
	// samples are drawn at random from the task's.
	Consolidate(ctx PenaltyContext, id int, samples []memory.Item) error
}

// Limited is a rehearsal, or a method of your own, that not every learner can have.
type Limited interface {
	Limits() Limits
}

// Limits say where a rehearsal cannot be used.
type Limits struct {
	Inputs  bool // it changes stored samples, so these must be inputs alone, without target values
	Classes bool // it treats outputs as the logits of classes
}

// Saver is a part's Storer, Penalty or Predictor that remembers something between steps, which is
// saved with the learner.
type Saver interface {
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// Roles are the roles of a rehearsal or method; those that it does not have are nil.
type Roles struct {
	Objective Objective
	Replayer  Replayer
	Curator   Curator
	Storer    Storer
	Observer  Observer
	Penalty   Penalty
	Predictor Predictor
	Limits    Limits
}

// RolesOf asks a method of your own for its roles.
func RolesOf(x any) (r Roles) {
	r.Objective, _ = x.(Objective)
	r.Replayer, _ = x.(Replayer)
	r.Curator, _ = x.(Curator)
	r.Storer, _ = x.(Storer)
	r.Observer, _ = x.(Observer)
	r.Penalty, _ = x.(Penalty)
	r.Predictor, _ = x.(Predictor)
	if l, ok := x.(Limited); ok {
		r.Limits = l.Limits()
	}
	return r
}

// Or returns r with the roles of others in place of those that it does not have.
func (r Roles) Or(others Roles) Roles {
	r.Objective, r.Replayer, r.Curator = cmp.Or(r.Objective, others.Objective), cmp.Or(r.Replayer, others.Replayer),
		cmp.Or(r.Curator, others.Curator)
	r.Storer, r.Observer = cmp.Or(r.Storer, others.Storer), cmp.Or(r.Observer, others.Observer)
	r.Penalty, r.Predictor = cmp.Or(r.Penalty, others.Penalty), cmp.Or(r.Predictor, others.Predictor)
	r.Limits.Inputs, r.Limits.Classes = r.Limits.Inputs || others.Limits.Inputs, r.Limits.Classes || others.Limits.Classes
	return r
}

// Savers lists the roles that remember something.
func (r Roles) Savers() (savers []Saver) {
	for _, role := range []any{r.Storer, r.Penalty, r.Predictor} {
		if s, ok := role.(Saver); ok {
			savers = append(savers, s)
		}
	}
	return savers
}

// Roles returns the roles that the rehearsal has; plain replay has none.
func (r *Rehearsal) Roles() Roles {
	all := Roles{Storer: r.Store, Penalty: r.Penalty, Predictor: r.Predict, Limits: r.Limits}
	if r.Rows != nil || r.Task != (Loss{}) {
		all.Objective = objective{r}
	}
	if r.Draw != nil || r.PerTask || len(r.rows()) > 1 || r.rows()[0].OwnDraw {
		all.Replayer = replayer{r}
	}
	if r.Rank != nil || r.Logits || r.Remember {
		all.Curator = curator{r}
	}
	return all
}

type objective struct{ *Rehearsal }

func (r objective) Loss(id int) Loss {
	if id > memoryRow {
		return r.Task
	}
	for _, row := range r.rows() {
		if row.ID == id {
			return row.Loss
		}
	}
	return r.rows()[0].Loss
}

// storing is a Storer that remembers nothing between steps.
type storing func(ctx Context, current [][]memory.Item) error

func (f storing) Store(ctx Context, current [][]memory.Item) error { return f(ctx, current) }

type replayer struct{ *Rehearsal }

func (r replayer) Shares(store *memory.Store, running []int, batch int) []float64 {
	if r.Rehearsal.Shares == nil {
		return nil
	}
	return r.Rehearsal.Shares(store, running, batch)
}

// Replays draws the rows in their order. A draw of the store's own passes over all samples before
// it repeats one, so that two of them are not independent: a row's own draw is uniform, unless the
// part says how all are drawn. The samples that a part chooses to replay are the first row, with or
// without a draw of its own.
func (r replayer) Replays(ctx ReplayContext) (rows []Replay, err error) {
	if r.PerTask {
		return perTask(ctx), nil
	}
	var first []int
	for i, row := range r.rows() {
		indices := first
		switch {
		case r.Draw != nil && (i == 0 || row.OwnDraw && r.DrawAll):
			if indices, err = r.Draw(ctx); err != nil {
				return nil, err
			}
		case row.OwnDraw:
			indices = anyOf(everyIndex(ctx.Memory()), ctx.Batch(), ctx.Rand())
		case i == 0:
			indices = ctx.Memory().Draw(ctx.Batch())
		}
		if i == 0 {
			first = indices
		}
		if len(indices) > 0 {
			rows = append(rows, Replay{row.ID, indices})
		}
	}
	return rows, nil
}

type curator struct{ *Rehearsal }

// Pool asks for more than what is stored only where there is a choice to be made.
func (r curator) Pool(quota int) int {
	if quota == 0 || r.Rank == nil {
		return quota
	}
	return max(quota, r.Rehearsal.Pool)
}

// Curate ranks the candidates of a task that has come back together with the samples that are
// stored of it. These keep the logits that are stored with them.
func (r curator) Curate(ctx Context, id int, candidates []memory.Item) (err error) {
	if r.UpdateLogits != nil {
		if err := r.renew(ctx, id); err != nil {
			return err
		}
	}
	store, kept := ctx.Memory(), candidates
	if r.Rank != nil && len(candidates) > 0 {
		all := append(store.Items(placesOf(store, id)), candidates...)
		_, classes := grouped(len(all), func(i int) int { return all[i].Class })
		if kept, err = r.Rank(ctx, all, store.Quota(classes)); err != nil {
			return err
		}
	}
	if r.Logits {
		now, err := withLogits(ctx, id, kept)
		if err != nil {
			return err
		}
		for k, it := range kept {
			if it.Logits != nil {
				now[k].Logits = it.Logits
			}
		}
		kept = now
	}
	if r.Logits && r.Rehearsal.Store != nil {
		if err := stampLogits(ctx, id); err != nil {
			return err
		}
	}
	if r.Rank != nil {
		store.Rerank(id, kept)
	} else {
		store.Add(kept)
	}
	if r.Remember {
		return ctx.Remember()
	}
	return nil
}
