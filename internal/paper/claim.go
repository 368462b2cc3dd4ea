package paper

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// claim says that one method is better than another, or about as good.
type claim struct {
	ID   string `toml:"id"`
	Text string `toml:"text"`
	// Tables are the paper's tables that it is about, with the paper's names of methods. If there
	// are none, it is about Grids, by their names without the size, with the grids' names of
	// methods.
	Tables []string `toml:"tables"`
	Grids  []string `toml:"grids"`
	// Datasets are the paper's, all if it is empty. Without has places that the claim leaves out,
	// such as "Table 1, PS-EMNIST".
	Datasets []string `toml:"datasets"`
	Without  []string `toml:"without"`

	Methods    []string `toml:"methods"`
	Than       []string `toml:"than"`
	EveryOther bool     `toml:"every_other"` // of the table, except those in Except and Methods
	Except     []string `toml:"except"`

	Metric   string   `toml:"metric"` // by its name; A if empty
	Relation relation `toml:"relation"`
	Margin   float64  `toml:"margin"` // in points, of alike

	// Of a grid that varies a number: its value, smallest or largest, for the two sides. The
	// methods are compared with themselves if Than is empty.
	At     extreme `toml:"at"`
	ThanAt extreme `toml:"than_at"`

	metric *results.Metric
}

// relation is what a claim says about two methods.
type relation string

const (
	higher relation = "higher"
	lower  relation = "lower"
	alike  relation = "alike"
)

// extreme chooses among the values that a grid varies.
type extreme string

const (
	smallest extreme = "smallest"
	largest  extreme = "largest"
)

var (
	//go:embed claims.toml
	claimsText string
	//go:embed controls.toml
	controlsText string
)

func claims() []*claim   { return embedded(parse(claimsText)) }
func controls() []*claim { return embedded(parse(controlsText)) }

// parse reads claims, and fills in what they leave out.
func parse(text string) ([]*claim, error) {
	var file struct {
		Claims []*claim `toml:"claim"`
	}
	meta, err := toml.Decode(text, &file)
	if err != nil {
		return nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("paper: unknown key %s", unknown[0])
	}
	for _, c := range file.Claims {
		c.Metric, c.Relation = cmp.Or(c.Metric, results.FinalAccuracy.Name), cmp.Or(c.Relation, higher)
		if c.metric = results.MetricNamed(c.Metric); c.metric == nil {
			return nil, fmt.Errorf("paper: claim %s is about %s, which is not a metric", c.ID, c.Metric)
		}
	}
	return file.Claims, nil
}

// rivals are the methods of a table that one of the claim is compared with.
func (c *claim) rivals(table string) []string {
	if !c.EveryOther {
		return c.Than
	}
	var out []string
	for _, p := range inPaper() {
		if p.table == table && !slices.Contains(slices.Concat(out, c.Methods, c.Except), p.method) {
			out = append(out, p.method)
		}
	}
	return out
}
