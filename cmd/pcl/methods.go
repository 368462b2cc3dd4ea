package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/pcl/method"
)

// methodsCmd lists the methods, or explains one.
type methodsCmd struct {
	Name string `arg:"" optional:"" help:"Method to explain."`
	JSON bool   `name:"json" help:"Print JSON."`
}

type methodDescription struct {
	method.Info
	Params []method.Param `json:"params"`
}

func (c *methodsCmd) Run(rc *runContext) error {
	names := method.Names()
	if c.Name != "" {
		names = []string{c.Name}
	}
	var list []methodDescription
	for _, name := range names {
		spec, err := method.Lookup(name)
		if err != nil {
			return usageError{err}
		}
		list = append(list, methodDescription{spec.Info, method.Parameters(spec)})
	}
	switch {
	case c.JSON:
		enc := json.NewEncoder(rc.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	case c.Name != "":
		return explain(rc, list[0])
	}
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTITLE\tFAMILY\tCOST PER STEP\tSTATE\tΣw")
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Title, m.Family, m.Cost, m.State, m.SumW)
	}
	return w.Flush()
}

func explain(rc *runContext, m methodDescription) error {
	fmt.Fprintf(rc.stdout, "%s: %s\n\n  %s\n\n", m.Name, m.Title, m.Rule)
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  Family\t%s\n  Cost per step\t%s\n  State\t%s\n  Σw\t%s\n  Cite\t%s\n", m.Family, m.Cost, m.State, m.SumW, m.Source)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(rc.stdout, "\nParameters (--param NAME=VALUE)")
	for _, p := range m.Params {
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
