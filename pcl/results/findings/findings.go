// Package findings has what the results in grids/results show, beside the numbers and the claims of
// the paper, for notebooks and programs: the tables behind REPRODUCTION.md.
package findings

import (
	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Published returns the tables of the results that come with this module, and the verdicts on
// claims.
func Published() (*paper.Findings, error) { return paper.Published() }

// InPaper returns the paper's A and F of a method in a table; nil where it has none.
func InPaper(e *rows.Entry) (a, f *paper.Number) { return paper.Numbers(e) }
