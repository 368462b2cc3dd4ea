// Package nb shows figures, tables, progress and pictures in a notebook of the kernel
// "ParallelCL (Go)" (pcl notebook) or of any GoNB.
//
//	nb.Show(viz.Timeline(viz.Light, run))
//
// What is shown has reached the notebook when a call returns. All of it stays in exported pages and
// loads nothing from elsewhere. Outside a notebook tables are printed as text and the rest does
// nothing, so that the same code runs in a test or a program.
//
// Errors are returned, and also printed to standard error: a cell seldom looks at them.
package nb
