package grid

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Compared is a figure of a result beside that of another run of the same configuration.
type Compared struct {
	Name      string
	Then, Now string
}

// Compare returns the figures of a row of exported results beside those of a run, and whether all are equal to the
// bit.
func Compare(then *rows.Row, run *results.Run) (list []Compared, equal bool) {
	now := resultOf(run)
	list = []Compared{
		{"A", rows.Exact(then.A), rows.Exact(now.A)},
		{"F", rows.Exact(then.F), rows.Exact(now.F)},
		{"A_first", rows.Exact(then.AFirst), rows.Exact(now.AFirst)},
		{"steps", fmt.Sprint(then.Steps), fmt.Sprint(now.Steps)},
		{"diverged at", then.Diverged, now.Diverged},
		{"model (SHA-256)", then.Model, now.Model},
	}
	equal = true
	for _, c := range list {
		equal = equal && c.Then == c.Now
	}
	return list, equal
}

// Reasons returns in sentences why a run may differ from a row of exported results: each circumstance that differs and
// can change a result. program is what makes the run now.
func Reasons(then *rows.Row, run *results.Run, program string) (list []string) {
	m := run.Measured
	if then.Run != run.ID {
		list = append(list, "The files of the data set are a part of the official ones now; the result does not say which files it was made on.")
	}
	for _, c := range []struct{ what, then, now string }{
		{"program", then.Program, program},
		{"version", then.Version + " (" + then.Commit + ")", m.Version + " (" + m.Commit + ")"},
		{"backend", then.Backend, m.Backend},
		{"device", then.Device, m.Device},
		{"number of threads", fmt.Sprint(then.Threads), fmt.Sprint(m.Threads)},
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
