package rehearsal

import "slices"

// The parts of this file change the logits that are stored with the samples whenever a task ends
// (docs/method.md §8.4). They need a part that is trained on stored logits, such as [Distill].

// ExtendLogits is the part "x-der", the update of stored logits by X-DER: outputs that appeared
// after a sample was stored get the logits of the present model. It is not the whole of X-DER,
// which also prepares outputs of classes to come.
type ExtendLogits struct {
	Gamma *float64 `param:"gamma" default:"0.85" range:"[0,1]" doc:"γ in [0, 1]: new logits are scaled down until the largest is at most γ times the stored logit of the right class"`
}

func init() {
	Register(Info{
		Name: "x-der", Title: "X-DER's logits",
		Does: "when a task ends, stored logits are extended by those of the present model for outputs that are new since",
		Source: "Boschini et al., Class-Incremental Continual Learning into the eXtended DER-verse, TPAMI 2022 (arXiv " +
			"2201.00766)",
		Cost: "none; F of the memory when a task ends", State: "the logits stored with the samples",
		Axes: []string{"stored logits"},
	}, func() Part { return new(ExtendLogits) })
}

// Join sets how stored logits change.
func (e *ExtendLogits) Join(r *Rehearsal) error {
	r.UpdateLogits = func(old, now []float32, right int) []float32 { return extended(old, now, right, *e.Gamma) }
	r.Limits.Classes = true
	return nil
}

// extended is the old logits followed by the present ones of newer outputs, which are scaled so
// that their largest is at most γ times the old logit of the right class. Where that logit is not
// positive no scale is small enough, and they become 0. If no present logit is positive, they stay
// as they are.
func extended(old, now []float32, right int, gamma float64) []float32 {
	out := slices.Clone(now)
	copy(out, old)
	if len(old) >= len(now) {
		return out
	}
	newer := out[len(old):]
	largest, bound := slices.Max(newer), float32(gamma)*max(old[right], 0)
	if largest > bound {
		for i := range newer {
			newer[i] *= bound / largest
		}
	}
	return out
}

// RefreshLogits is the part "refresh": when a task ends, all stored logits become those of the
// present model.
type RefreshLogits struct{}

func init() {
	Register(Info{
		Name: "refresh", Title: "refreshed logits",
		Does:   "when a task ends, all stored logits become those of the present model",
		Source: "a control for der-pp and x-der, not a published method",
		Cost:   "none; F of the memory when a task ends", State: "the logits stored with the samples",
		Axes: []string{"stored logits"},
	}, func() Part { return new(RefreshLogits) })
}

// Join sets how stored logits change.
func (*RefreshLogits) Join(r *Rehearsal) error {
	r.UpdateLogits = func(_, now []float32, _ int) []float32 { return now }
	return nil
}

// renew changes the logits of the samples that have any.
func (r *Rehearsal) renew(ctx Context, task int) error {
	store := ctx.Memory()
	held := slices.DeleteFunc(everyIndex(store), func(i int) bool { return store.Item(i).Logits == nil })
	present, err := withLogits(ctx, task, store.Items(held))
	if err != nil {
		return err
	}
	for k, now := range present {
		it := store.Item(held[k])
		right, err := ctx.Output(it.Task, it.Class)
		if err != nil {
			return err
		}
		store.SetLogits(held[k], r.UpdateLogits(it.Logits, now.Logits, right))
	}
	return nil
}
