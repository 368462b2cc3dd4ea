// Package grids holds the grids that come with the program: the paper's tables and sweeps, and controls for them
// (docs/grid.md). It also has the results of those that have been run.
package grids

import "embed"

// Files has one TOML file for each grid.
//
//go:embed *.toml
var Files embed.FS

// Results has one CSV file, in results/, for each grid of which there are results (package rows reads them).
//
//go:embed results/*.csv
var Results embed.FS
