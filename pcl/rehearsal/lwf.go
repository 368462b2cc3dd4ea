package rehearsal

// LwF is the part "lwf", learning without forgetting (docs/method.md §8.6): on the batches of the
// tasks in training, the outputs of finished tasks are held to what the model said when a task last
// ended. It needs no memory, and joins with any loss of the memory.
type LwF struct {
	Weight      *float64 `param:"weight" default:"1" range:"[0,1e6]" doc:"λ ≥ 0, weight of the distillation beside the task's cross-entropy; 0 leaves it out"`
	Temperature float64  `param:"temperature" default:"2" range:"[0.001,1000]" doc:"T > 0, by which the logits of both models are divided"`
}

func init() {
	Register(Info{
		Name: "lwf", Title: "LwF",
		Does: "the tasks' losses have λ times the cross-entropy added between the old model's softmax(z/T) and the " +
			"present one's, over the outputs of finished tasks",
		Source: "Li & Hoiem, Learning without Forgetting, ECCV 2016, TPAMI 2018 (arXiv 1606.09282)",
		Cost:   "K_c F of the old model", State: "the model when the last task ended",
		Axes: []string{"teacher"},
	}, func() Part { return new(LwF) })
}

// Join adds the distillation to the loss of the tasks.
func (w *LwF) Join(r *Rehearsal) error {
	if *w.Weight != 0 {
		r.Teacher, r.Temperature, r.Remember = *w.Weight, w.Temperature, true
	}
	return nil
}
