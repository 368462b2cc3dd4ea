// Package viz draws every figure of the library from results, with gonum/plot.
//
// A figure is a function from results to a [Figure]: one file each, no state, no files read.
// The first argument is the [Theme], [Light] or [Dark]. A method has the same colour, marker and
// dash in every figure ([Theme.Method]); where several runs of a method are given, figures show
// their mean and a band of one population standard deviation.
package viz
