package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

type partDescription struct {
	rehearsal.Info
	Params []params.Param `json:"params"`
}

func registered(name string) bool { return slices.Contains(method.Names(), name) }

// parts lists the parts of a rehearsal, or explains one.
func (c *methodsCmd) parts(rc *runContext, one rehearsal.Part) error {
	var list []partDescription
	for _, name := range method.PartNames() {
		p, err := method.LookupPart(name)
		if err != nil {
			return err
		}
		if one == nil || p.Info().Name == one.Info().Name {
			list = append(list, partDescription{p.Info(), params.Of(p)})
		}
	}
	return rc.print(c.JSON, list, func(out io.Writer) error {
		if one != nil {
			p := list[0]
			figures := new(table).row("Chooses", axes(p.Info)).row("Adds to a step", p.Cost).row("State", p.State).row("Cite", p.Source)
			return explain(out, "+"+p.Name+": "+p.Title, p.Does, figures, p.Params)
		}
		t := newTable("PART", "TITLE", "CHOOSES", "ADDS TO A STEP")
		for _, p := range list {
			t.row(p.Name, p.Title, axes(p.Info), p.Cost)
		}
		err := t.print(out)
		fmt.Fprintln(out, "\nTwo parts that make the same choice exclude each other.")
		return err
	})
}

func axes(i rehearsal.Info) string {
	var texts []string
	for _, a := range i.Axes {
		texts = append(texts, string(a))
	}
	return strings.Join(texts, ", ")
}
