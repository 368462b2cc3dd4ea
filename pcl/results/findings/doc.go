// Package findings says what the results of grids show: means and spreads beside the paper's numbers, which methods can
// be told apart, and which of the paper's claims hold. It works on the files of package rows alone.
package findings
