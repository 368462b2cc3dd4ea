// Package nb shows figures, tables, progress and pictures in a notebook of the kernel
// "ParallelCL (Go)" (pcl notebook) or of any GoNB.
//
//	nb.Show(viz.Timeline(run))
//
// [Train] trains a learner in the background, while later cells go on with it; [Buttons] has the reader of the notebook do so.
//
// When a call returns, what it shows has reached the notebook. Everything remains in exported pages and loads
// nothing from elsewhere. Outside a notebook, tables are printed as text and the other functions do nothing,
// so that the same code runs in a test or a program; a training trains.
//
// Errors are returned and also printed to standard error, because cells seldom check them.
package nb
