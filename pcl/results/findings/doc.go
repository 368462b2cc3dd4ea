// Package findings says what the results of grids show: means and spreads beside the paper's numbers, which methods can
// be told apart, and which of the paper's claims hold. It reads results in the form of package rows and nothing else. Begin
// with [Published] or [New].
package findings
