package results

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// Remarks says in sentences what a reader of the run's numbers has to know: that it diverged, that
// rows were left out of its steps, that its parts were made on different backends or by different
// programs. Mostly there is nothing to say.
func (r *Run) Remarks() []string {
	var out []string
	if r.ByHand() {
		out = append(out, "It was added by hand: "+
			"it has no configuration that its id, method and seeds would follow from.")
	}
	switch rows := plural.Of(r.Skipped, "row"); {
	case r.DivergedAt != nil:
		out = append(out, fmt.Sprintf("It diverged: from step %d of %d on it learnt nothing, "+
			"because no row had a finite loss and gradient (%s left out in all). Its accuracies are those of a broken network.",
			*r.DivergedAt, r.Span(), rows))
	case r.Skipped > 0:
		out = append(out, fmt.Sprintf("%s left out of its steps, "+
			"because a loss, a gradient or the step's direction was not finite.", rows))
	}
	if r.SkippedSamples > 0 {
		out = append(out, fmt.Sprintf("%s left out of its steps, and the others of their batches trained on, "+
			"because a loss or gradient was not finite with them.",
			plural.Of(r.SkippedSamples, "sample")))
	}
	if r.Rejected > 0 {
		out = append(out, fmt.Sprintf("%s made no update, because the direction was not finite.",
			plural.Of(r.Rejected, "step")))
	}
	if makers := r.Measured.makers(); len(makers) > 1 {
		out = append(out, "It was made in parts: "+strings.Join(r.Measured.parts(), ", then ")+".")
	}
	return out
}

// parts describes the run's parts; those with the same maker are described together.
func (m Measured) parts() []string {
	var out []string
	var last Maker
	for i, p := range m.Parts {
		if i > 0 && p.Maker == last {
			continue
		}
		last = p.Maker
		out = append(out, fmt.Sprintf("from step %d on with %s", p.From, p.text()))
	}
	return out
}

// text names the backend and whatever else distinguishes makers.
func (m Maker) text() string {
	text := m.Backend
	if m.Threads > 0 {
		text += fmt.Sprintf(" (%s, %s)", m.Device, plural.Of(m.Threads, "thread"))
	}
	return strings.TrimSpace(fmt.Sprintf("%s, version %s %s, %s", text, m.Version, m.Commit, m.GoVersion))
}

// Name identifies the run among others, in one phrase.
func (r *Run) Name() string {
	return fmt.Sprintf("%s, %s-incremental, %s, seed %d", r.Dataset, r.Increment, r.Label(), r.Seed)
}
