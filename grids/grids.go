// Package grids holds the grids that come with the program: the paper's tables and sweeps, and
// controls for them (docs/grid.md). It also has the results of those that have been run.
package grids

import "embed"

// Files has one TOML file for each grid and, in results/, one CSV file for each of which there are
// results (package rows reads them).
//
//go:embed *.toml results/*.csv
var Files embed.FS
