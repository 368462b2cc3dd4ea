package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// methodsCmd lists the methods and the parts that can be joined to them, or explains one.
type methodsCmd struct {
	Name string `arg:"" optional:"" help:"Method, part or composition (such as emgd-gmc+der-pp) to explain."`
	JSON bool   `name:"json" help:"Print the methods as JSON."`
}

func (c *methodsCmd) Run(rc *runContext) error {
	names := method.Names()
	if c.Name != "" {
		if part, err := rehearsal.Find(c.Name); err == nil && !slices.Contains(names, c.Name) {
			return explainPart(rc.stdout, part)
		}
		names = []string{c.Name}
	}
	var list []method.Description
	for _, name := range names {
		about, err := usage(method.Lookup(name))
		if err != nil {
			return err
		}
		list = append(list, about)
	}
	return rc.print(c.JSON, list, func(out io.Writer) error {
		if c.Name != "" {
			m := list[0]
			figures := new(table).row("Family", m.Family).row("Cost per step", m.Cost).row("State", m.State).row("Σw", m.SumW).
				row("Cite", m.Source)
			return explain(out, m.Name+": "+m.Title, m.Rule, figures, m.Params)
		}
		t := newTable("NAME", "TITLE", "FAMILY", "COST PER STEP", "STATE", "Σw")
		for _, m := range list {
			t.row(m.Name, m.Title, m.Family, m.Cost, m.State, m.SumW)
		}
		return cmp.Or(t.print(out), listParts(out))
	})
}

func listParts(out io.Writer) error {
	t := newTable("PART", "TITLE", "CHOOSES", "ADDS TO A STEP")
	for _, name := range rehearsal.Names() {
		part, err := rehearsal.Find(name)
		if err != nil {
			return err
		}
		p := rehearsal.Describe(part)
		t.row(name, p.Title, strings.Join(p.Axes, ", "), p.Cost)
	}
	fmt.Fprint(out, "\nParts of a rehearsal can be joined to a method with +, as in emgd-gmc+der-pp:\n\n")
	err := t.print(out)
	fmt.Fprintln(out, "\nTwo parts that make the same choice exclude each other.")
	return err
}

func explainPart(out io.Writer, part rehearsal.Part) error {
	p := rehearsal.Describe(part)
	figures := new(table).row("Chooses", strings.Join(p.Axes, ", ")).row("Adds to a step", p.Cost).row("State", p.State).
		row("Cite", p.Source)
	return explain(out, "+"+p.Name+": "+p.Title, p.Does, figures, params.Of(part))
}

// explain prints what a method or part is: its name, what it does, its figures, and its parameters.
func explain(out io.Writer, name, does string, figures *table, list []params.Param) error {
	fmt.Fprintf(out, "%s\n\n  %s\n\n", name, does)
	figures.indent = "  "
	if err := figures.print(out); err != nil || len(list) == 0 {
		return err
	}
	fmt.Fprintln(out, "\nParameters (--param NAME=VALUE)")
	t := &table{indent: "  "}
	for _, p := range list {
		choices := ""
		if len(p.Choices) > 0 {
			choices = "; one of " + strings.Join(p.Choices, ", ")
		}
		t.row(p.Name, p.Default, p.Doc+choices)
	}
	return t.print(out)
}

// parameters converts the values of --param to what [method.New] takes.
func parameters(flags map[string]string) map[string]any {
	out := map[string]any{}
	for name, value := range flags {
		out[name] = value
	}
	return out
}
