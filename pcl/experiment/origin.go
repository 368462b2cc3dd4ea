package experiment

import (
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// builtIn are the parts and data sets of the module: those that are there before a program
// registers its own.
var builtIn = func() map[string]bool {
	known := map[string]bool{}
	for _, name := range append(method.Names(), rehearsal.Names()...) {
		known["method "+name] = true
	}
	for _, name := range model.Names() {
		known["model "+name] = true
	}
	for _, info := range datasets.List() {
		known["set "+info.Name] = true
	}
	return known
}()

// program tells this program from those that may compute something else from the configuration. The
// cells of a notebook count if the configuration names a part that the module itself does not
// register.
func (c Config) program() (string, error) {
	own := !builtIn["model "+c.modelName()] || !strings.Contains(c.Dataset, ":") && !builtIn["set "+c.Dataset]
	for name := range strings.SplitSeq(c.Method, "+") {
		own = own || !builtIn["method "+name]
	}
	program, err := origin.Program()
	if !own {
		program, _, _ = strings.Cut(program, origin.CellMark)
	}
	return program, err
}
