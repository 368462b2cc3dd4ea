package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// methodsCmd lists the methods and the parts that can be joined to them, or explains one.
type methodsCmd struct {
	Name  string `arg:"" optional:"" help:"Method, part or composition (such as emgd-gmc+der-pp) to explain."`
	Parts bool   `help:"List the parts of a rehearsal, which can be joined to a method with +."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

func (c *methodsCmd) Run(rc *runContext) error {
	part, err := method.LookupPart(c.Name)
	switch {
	case c.Parts && c.Name != "" && err != nil:
		return usageError{err}
	case c.Parts, err == nil && !registered(c.Name):
		return c.parts(rc, part)
	}
	names := method.Names()
	if c.Name != "" {
		names = []string{c.Name}
	}
	var list []method.Description
	for _, name := range names {
		d, err := method.Lookup(name)
		if err != nil {
			return usageError{err}
		}
		list = append(list, d)
	}
	switch {
	case c.JSON:
		return printJSON(rc.stdout, list)
	case c.Name != "":
		m := list[0]
		return explain(rc, m.Name+": "+m.Title, m.Rule, [][2]string{
			{"Family", m.Family}, {"Cost per step", m.Cost}, {"State", m.State}, {"Σw", m.SumW}, {"Cite", m.Source},
		}, m.Params)
	}
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTITLE\tFAMILY\tCOST PER STEP\tSTATE\tΣw")
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Title, m.Family, m.Cost, m.State, m.SumW)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprint(rc.stdout, "\nParts of a rehearsal can be joined to a method with +, as in emgd-gmc+der-pp:\n\n")
	return c.parts(rc, nil)
}

// explain prints what a method or part is: its name, what it does, its figures (each a name and a value), and its parameters.
func explain(rc *runContext, name, does string, figures [][2]string, list []params.Param) error {
	fmt.Fprintf(rc.stdout, "%s\n\n  %s\n\n", name, does)
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	for _, f := range figures {
		fmt.Fprintf(w, "  %s\t%s\n", f[0], f[1])
	}
	if err := w.Flush(); err != nil || len(list) == 0 {
		return err
	}
	fmt.Fprintln(rc.stdout, "\nParameters (--param NAME=VALUE)")
	for _, p := range list {
		choices := ""
		if len(p.Choices) > 0 {
			choices = "; one of " + strings.Join(p.Choices, ", ")
		}
		fmt.Fprintf(w, "  %s\t%v\t%s%s\n", p.Name, p.Default, p.Doc, choices)
	}
	return w.Flush()
}

// parameters converts the values of --param to what [method.New] takes.
func parameters(flags map[string]string) map[string]any {
	out := map[string]any{}
	for name, value := range flags {
		out[name] = value
	}
	return out
}
