// Package grid makes many runs, such as those behind a table of the paper, on one machine or on several that share a
// folder.
//
// A [Grid] is written as TOML: methods × data sets × increments × whatever else is varied × label sets × timelines ×
// seeds. [Folder.Plan] expands one into a [Manifest], which is kept in a [Folder]. The manifest holds the cells of the grid, each
// with the complete [experiment.Config] of one run. A cell's ID is the hash of everything that its result depends on, so
// that grids with cells in common share their results.
//
// [Folder.Work] makes cells until there is nothing left for it. Any number of workers may share a folder: before a worker
// begins a cell it takes a lease of it, and it writes results to a file of its own, to which it only appends. A
// worker that is killed or interrupted, or whose time is up, leaves a cell that another one goes on with.
// [Folder.Status] says how far a grid has come, [Folder.Collect] returns its results, and package store writes them to an
// SQLite file.
package grid
