package cli

import (
	"encoding/json"
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
		enc := json.NewEncoder(rc.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	case one != nil:
		return explainPart(rc, list[0])
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

func explainPart(rc *runContext, p partDescription) error {
	fmt.Fprintf(rc.stdout, "+%s: %s\n\n  %s\n\n", p.Name, p.Title, p.Does)
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  Chooses\t%s\n  Adds to a step\t%s\n  State\t%s\n  Cite\t%s\n", axes(p.Info), p.Cost, p.State, p.Source)
	if err := w.Flush(); err != nil || len(p.Params) == 0 {
		return err
	}
	fmt.Fprintln(rc.stdout, "\nParameters (--param NAME=VALUE)")
	return explainParams(w, p.Params)
}
