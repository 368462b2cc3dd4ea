package grid

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/csvcell"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Figure is one number of a result, as exported then and as computed now.
type Figure struct{ Name, Then, Now string }

// Compare sets a row of exported results beside a run of the same configuration. The text says
// whether they are equal to the bit and, if not, what the reason may be. same reports whether they
// are equal, or differ no more than the processors explain.
func Compare(then *rows.Row, run *results.Run) (figures []Figure, text string, same bool) {
	old := then.Run
	figures = []Figure{
		{"A", csvcell.Text(old.A, -1), csvcell.Text(run.A, -1)},
		{"F", csvcell.Text(old.F, -1), csvcell.Text(run.F, -1)},
		{"A_first", csvcell.Text(old.AFirst, -1), csvcell.Text(run.AFirst, -1)},
		{"steps", fmt.Sprint(old.Steps), fmt.Sprint(run.Steps)},
		{"diverged at", divergedAt(old), divergedAt(run)},
		{"model (SHA-256)", old.ModelSHA256, run.ModelSHA256},
	}
	equal := !slices.ContainsFunc(figures, func(f Figure) bool { return f.Then != f.Now })
	why := reasons(then, run)
	said, within := onOtherProcessor(then, run)
	lines := []string{"Equal to the bit."}
	switch {
	case !equal && len(why) == 0:
		lines = []string{
			"They differ, although program, backend, device and threads are the same. Is the data? pcl data verify checks it. " +
				"If it is, this is a fault of the program, unless a GPU, other vector instructions, or another plugin made the " +
				"result."}
	case !equal:
		lines = []string{"They differ. Other differences, which may be the reason:"}
	case len(why) > 0:
		lines = []string{"Equal to the bit. That is so although not everything is the same:"}
	}
	lines = append(lines, why...)
	if !equal && said != "" {
		lines = append(lines, said)
	}
	return figures, strings.Join(lines, "\n  "), equal || within
}

// divergedAt is the step from which on the run learnt nothing, as text; empty for none.
func divergedAt(run *results.Run) string {
	if run.DivergedAt == nil {
		return ""
	}
	return fmt.Sprint(*run.DivergedAt)
}

// reasons returns in sentences why a run may differ from a row of exported results: each
// circumstance that differs and can change a result.
func reasons(then *rows.Row, run *results.Run) (list []string) {
	old, m := then.Run.Measured, run.Measured
	if then.Run.ID != run.ID {
		list = append(list,
			"The files of the data set are a part of the official ones now; the result does not say which files it was made on.")
	}
	for _, c := range []struct{ what, then, now string }{
		{"program", then.Program, m.Program},
		{"version", old.Version + " (" + old.Commit + ")", m.Version + " (" + m.Commit + ")"},
		{"backend", old.Backend, m.Backend},
		{"device", old.Device, m.Device},
		{"number of threads", fmt.Sprint(old.Threads), fmt.Sprint(m.Threads)},
	} {
		if c.then != c.now {
			list = append(list, fmt.Sprintf("The %s was %s, and is %s now.", c.what, c.then, c.now))
		}
	}
	if flags := backend.XLAFlags(); flags != "" && m.Backend != backend.Go {
		list = append(list, fmt.Sprintf("XLA_FLAGS is %q now.", flags))
	}
	return list
}

// tolerance is how far A of a run may be, in points, from A of the same run on another processor.
// The largest distance seen is 2.9 (docs/results.md).
const tolerance = 3.0

// onOtherProcessor says that a row of exported results was made on another processor than a run,
// and whether their accuracies are within the tolerance nevertheless. It is empty if XLA made both
// on the same processor, or one of them not on a CPU.
func onOtherProcessor(then *rows.Row, run *results.Run) (text string, within bool) {
	old, m := then.Run.Measured, run.Measured
	why := backend.OtherProcessor(old.Device, m.Device)
	if why == "" || old.Backend != backend.XLACPU || m.Backend != backend.XLACPU {
		return "", false
	}
	distance := math.Abs(then.Run.A - run.A)
	within = distance <= tolerance && divergedAt(then.Run) == divergedAt(run)
	verdict := "within"
	if !within {
		verdict = "NOT within"
	}
	return fmt.Sprintf("The result was made on %s; this is %s. Bits cannot be expected to be equal, because they differ "+
		"in %s.\nA differs by %.2f points, which is %s the tolerance of %g.",
		old.Device, m.Device, why, distance, verdict, tolerance), within
}
