package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// table is one of a page about runs. Every column can be sorted by.
type table struct {
	ID   string // of a table that can be filtered, whose view is kept in the page's address
	Head []string
	Rows []row
}

type row struct {
	ID              string // for links to it
	Series          string // what lights up with it
	Data, Increment string // what it can be filtered by
	Cells           []datum
}

type datum struct {
	Text, Small string // Small stands below
	Sort        string // what the cell is sorted by; its text where it is empty
	Class       string // "text" for words, "hash", "good" or "bad"
	Link        string // ID of the row that it leads to
	Parts       []block
}

func (t *table) add(r row, cells ...datum) {
	r.Cells = cells
	t.Rows = append(t.Rows, r)
}

// numberCell is a cell with a number, as it is written or a dash where there is none.
func numberCell(x float64, write func(float64) string) datum {
	if math.IsNaN(x) {
		return datum{Text: "–"}
	}
	return datum{Text: write(x), Sort: strconv.FormatFloat(x, 'g', -1, 64)}
}

// fixed writes numbers with some digits, without a sign where all of them are 0.
func fixed(digits int) func(float64) string {
	return func(x float64) string {
		round := math.Pow10(digits)
		return strings.Replace(strconv.FormatFloat(math.Round(x*round)/round+0, 'f', digits, 64), "-", "−", 1)
	}
}

// meanCell is a cell with the mean of numbers, and their standard deviation if there are several.
func meanCell(digits int, values ...float64) datum {
	if len(values) == 0 {
		return datum{Text: "–"}
	}
	m := results.MomentOf(values...)
	c := numberCell(m.Mean, fixed(digits))
	if len(values) > 1 {
		c.Text += fmt.Sprintf(" ±\u00a0%.*f", digits, m.Std())
	}
	return c
}
