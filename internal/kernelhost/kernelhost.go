// Package kernelhost is the program in which a notebook's cells run: the kernel's host, and what
// that asks of this module. The kernel itself knows nothing of learners.
package kernelhost

import (
	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/kernel/host"
	"github.com/parallelcl/parallelcl/internal/names"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/viz/nb"
)

// Main runs the host; see [host.Main]. The kernel writes the main package that calls it.
func Main(find func(file, function string) (any, error)) { host.Main(find, module{}) }

// module implements [host.Module].
type module struct{}

func (module) Begin(source string, cell func() (hash string, ok bool)) {
	c := &cells{source: source, current: cell, hashes: map[string]string{}}
	names.SetKeeper(c)
	origin.Program = c.program
	experiment.KeepRecipes()
}

func (module) Catchers() []string {
	const nb = "github.com/parallelcl/parallelcl/viz/nb."
	return []string{nb + "(*Training).run", nb + "(*control).move"}
}

func (module) Show(v any) bool {
	if set, ok := v.(datasets.Dataset); ok {
		v = &set
	}
	if set, ok := v.(*datasets.Dataset); ok && set != nil {
		for _, perClass := range []int{10, 3, 1} { // as many as one looks at, of many classes fewer
			sheet, err := datasets.ContactSheet(set, perClass)
			if err == nil && (sheet.Rect.Dx()*sheet.Rect.Dy() < 1<<20 || perClass == 1) {
				v = sheet
				break
			}
		}
	}
	return nb.ShowValue(v)
}

// Names lists methods and parts of rehearsals, networks, or data sets.
func (module) Names(kind string) (list []string) {
	switch kind {
	case "method":
		return append(method.Names(), rehearsal.Names()...)
	case "model":
		return model.Names()
	}
	for _, info := range datasets.List() {
		list = append(list, info.Name)
	}
	return list
}
