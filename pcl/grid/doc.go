// Package grid makes many runs, such as those behind a table of the paper, on one machine or on
// several that share a folder.
//
// A [Grid] is written as TOML: methods × data sets × increments × whatever else is varied × label
// sets × timelines × seeds. [Grid.Expand] makes the list of its runs, each with its complete
// [experiment.Config]. [Grid.Work] makes those that are not finished, each in its own folder, where
// any process may go on with it; grids with runs in common share their results. [Grid.Results]
// reads what the folders hold.
package grid
