package kernel

import (
	"cmp"
	"context"
	"errors"
	"go/version"
	"os"
	"os/exec"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Check is one thing that notebooks need.
type Check struct {
	Name, Detail string
	OK           bool
	Mend         string // what to do if it is missing
}

// check makes a check. mend is what to do about an error.
func check(name, detail string, err error, mend string) Check {
	if err != nil {
		return Check{Name: name, Detail: printable.Line(err.Error()), Mend: mend}
	}
	return Check{Name: name, OK: true, Detail: printable.Line(detail)}
}

// Doctor checks everything that notebooks need. It changes nothing.
func Doctor(ctx context.Context, o Options) []Check {
	g, err := build.FindTools(ctx, "go", os.TempDir())
	if err != nil {
		g = &build.Go{CC: []string{"gcc"}}
	} else if version.Compare(g.Version, "go1.21") < 0 { // later ones fetch the version that the module asks for
		err = errors.New(g.Version)
	}
	compiler, missing := exec.LookPath(g.CC[0])
	lab, absent := FindLab(ctx, o.Cache, false)
	k, gone := Read(o)
	return []Check{
		check("Go", g.Version, err, "install Go "+leastGo+" or later and put it on PATH"),
		check("C compiler", compiler, missing, "install gcc (Debian, Ubuntu: apt install gcc libc6-dev): it loads cells, and XLA needs it"),
		check("Linker", cmp.Or(g.Linker, "the C compiler's own; with mold or lld cells start in about half the time"), nil, ""),
		check("JupyterLab", lab.Version+" ("+lab.Path+")", absent, "pcl notebook"),
		check("Kernel "+Name, "version "+k.Version+", module in "+k.Source, gone, "pcl kernel install"),
	}
}
