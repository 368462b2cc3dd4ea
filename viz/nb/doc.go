// Package nb shows figures, tables, progress and pictures in a notebook of the kernel "ParallelCL
// (Go)" (pcl notebook) or of any GoNB.
//
//	nb.Show(viz.Timeline(run))
//
// [Train] trains a learner in the background, while later cells use it; [Buttons] let the reader of
// the notebook control it.
//
// When a call returns, its output has reached the notebook. The output remains in exported pages
// and loads nothing from elsewhere. Outside a notebook tables are printed as text, training runs,
// and the other functions do nothing, so that the same code runs in tests and programs.
//
// Errors are returned and also printed to standard error, because cells seldom check them.
package nb
