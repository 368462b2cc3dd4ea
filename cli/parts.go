package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

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
	switch {
	case c.JSON:
		return printJSON(rc.stdout, list)
	case one != nil:
		p := list[0]
		return explain(rc, "+"+p.Name+": "+p.Title, p.Does, [][2]string{
			{"Chooses", axes(p.Info)}, {"Adds to a step", p.Cost}, {"State", p.State}, {"Cite", p.Source},
		}, p.Params)
	}
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PART\tTITLE\tCHOOSES\tADDS TO A STEP")
	for _, p := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, p.Title, axes(p.Info), p.Cost)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(rc.stdout, "\nTwo parts that make the same choice exclude each other.")
	return nil
}

func axes(i rehearsal.Info) string {
	var texts []string
	for _, a := range i.Axes {
		texts = append(texts, string(a))
	}
	return strings.Join(texts, ", ")
}
