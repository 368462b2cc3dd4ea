package findings

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/pcl/results/paper"
)

// Claim says that one method is better than another, or about as good.
type Claim struct {
	ID   string `toml:"id"`
	Text string `toml:"text"`
	// Tables are the paper's tables that it is about, with the paper's names of methods. If there are none, it is about
	// Grids, by their names without the size, with the grids' names of methods.
	Tables []string `toml:"tables"`
	Grids  []string `toml:"grids"`
	// Datasets are the paper's, all if it is empty. Without has places that the claim leaves out, such as
	// "Table 1, PS-EMNIST".
	Datasets []string `toml:"datasets"`
	Without  []string `toml:"without"`

	Methods    []string `toml:"methods"`
	Than       []string `toml:"than"`
	EveryOther bool     `toml:"every_other"` // of the table, except those in Except and Methods
	Except     []string `toml:"except"`

	Metric   Metric   `toml:"metric"`
	Relation Relation `toml:"relation"`
	Margin   float64  `toml:"margin"` // in points, of Alike

	// Of a grid that varies a number: its value, Smallest or Largest, for the two sides. The methods are compared with
	// themselves if Than is empty.
	At     Extreme `toml:"at"`
	ThanAt Extreme `toml:"than_at"`
}

// Relation is what a claim says about two methods.
type Relation string

const (
	Higher Relation = "higher"
	Lower  Relation = "lower"
	Alike  Relation = "alike"
)

// Extreme chooses among the values that a grid varies.
type Extreme string

const (
	Smallest Extreme = "smallest"
	Largest  Extreme = "largest"
)

var (
	//go:embed claims.toml
	claimsText string
	//go:embed controls.toml
	controlsText string
)

func claims() []*Claim   { return mustParse(claimsText) }
func controls() []*Claim { return mustParse(controlsText) }

func mustParse(text string) []*Claim {
	all, err := parse(text)
	if err != nil {
		panic(err) // the text is part of the program
	}
	return all
}

// parse reads claims and checks them.
func parse(text string) ([]*Claim, error) {
	var file struct {
		Claims []*Claim `toml:"claim"`
	}
	meta, err := toml.Decode(text, &file)
	if err != nil {
		return nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("findings: unknown key %s", unknown[0])
	}
	for _, c := range file.Claims {
		if err := c.complete(); err != nil {
			return nil, fmt.Errorf("findings: claim %q: %w", c.ID, err)
		}
	}
	return file.Claims, nil
}

// complete fills in what a claim leaves out, and checks it.
func (c *Claim) complete() error {
	if c.Metric == "" {
		c.Metric = A
	}
	if c.Relation == "" {
		c.Relation = Higher
	}
	switch {
	case c.ID == "" || c.Text == "" || len(c.Methods) == 0:
		return fmt.Errorf("it lacks an id, a text or methods")
	case (len(c.Tables) > 0) == (len(c.Grids) > 0):
		return fmt.Errorf("it must be about either tables or grids")
	case c.Relation != Higher && c.Relation != Lower && c.Relation != Alike:
		return fmt.Errorf("relation %q", c.Relation)
	case (c.Relation == Alike) != (c.Margin > 0):
		return fmt.Errorf("a margin belongs to %q, and only to that", Alike)
	case c.Relation == Alike && c.EveryOther:
		return fmt.Errorf("nothing is %q to every other method", Alike)
	case (len(c.Than) > 0) == c.EveryOther && c.At == "":
		return fmt.Errorf("it must compare with either some methods or every other")
	}
	for _, t := range c.Tables {
		if err := c.known(t); err != nil {
			return err
		}
	}
	return nil
}

// known checks that a table of the paper has the claim's methods.
func (c *Claim) known(table string) error {
	numbers := paper.Table(table)
	for _, m := range slices.Concat(c.Methods, c.Than, c.Except) {
		if !slices.ContainsFunc(numbers, func(n paper.Number) bool { return n.Method == m }) {
			return fmt.Errorf("%s has no method %q", table, m)
		}
	}
	return nil
}

// rivals are the methods of a table that one of the claim is compared with.
func (c *Claim) rivals(table string) []string {
	if !c.EveryOther {
		return c.Than
	}
	var out []string
	for _, n := range paper.Table(table) {
		if !slices.Contains(slices.Concat(out, c.Methods, c.Except), n.Method) {
			out = append(out, n.Method)
		}
	}
	return out
}
