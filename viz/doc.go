// Package viz draws every figure of the library from results, with gonum/plot.
//
// A figure is a function from results to a [Figure]: one file each, no state, no files read.
// The first argument is the [Theme], [Light] or [Dark]. A method has the same colour, marker and
// dash in every figure, unless another of the same figure had them first ([Theme.Methods]); where several
// runs of a method are given, figures show their mean and a band, or bars, of one population standard
// deviation. A figure is saved as a picture, or its numbers as CSV ([Figure.Data]). [SameAxes] makes
// figures comparable. What a figure must show its function says.
//
// The figures of the paper (arXiv 2401.01054): [Scenarios] and [Timeline] (1); [ToyDescent],
// [ToyPaths] and [ToyLosses] (2); [StepGeometry] (3); [Ratio] and [MeasuredRatio] (4); [MemorySize]
// (5); [EditedImages] (6); [LearningProcess] and [Accuracy] (7); [Temperature] (8); [Features] (9).
// Beyond it: [TaskCurves], [TaskAccuracy], [AccuracyMatrix], [CriticalDifference], [Certificates], [Slacks],
// [StreamWeights], [Conflicts] and [StepTimes].
package viz
