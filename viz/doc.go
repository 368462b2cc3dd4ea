// Package viz draws the figures of the library with gonum/plot.
//
// Each figure is a function from results to a [Figure]; its comment says what the figure must show.
// A method has the same colour, marker and dashes in every figure, unless another method of that
// figure already has them ([MethodStyles]). Repeated runs of a method are shown as their mean with
// one population standard deviation. A figure can be saved as a picture ([Figure.Save]), and its
// numbers as CSV ([Figure.Data]). In pages the same drawing serves light and dark screens.
//
// The figures of the paper (arXiv 2401.01054) are [Scenarios] and [Timeline] (1); [ToyDescent],
// [ToyPaths] and [ToyLosses] (2); [StepGeometry] (3); [Ratio] (4); [MemorySize] (5); [EditedImages]
// (6); [LearningProcess] and [Accuracy] (7); [Temperature] (8); and [Features] (9). Beyond the
// paper there are [TaskCurves], [TaskAccuracy], [AccuracyMatrix], [CriticalDifference],
// [Certificates], [StreamWeights] and [Conflicts]; [Profiles] and [TradeOff] for the runs of whole
// tables; and [Cover], which joins three figures.
//
// For a figure of your own, make a [NewPlot], call [Plot.Line], [Plot.Points], [Plot.Band] and
// [Plot.Mean], and pass it to [Plots].
//
// For a new kind of figure, [Plot.Add] takes a [Curve], any plotter of gonum, or a [Plotter] that
// you implement, and [NewFigure] arranges plots. The figures of this package use nothing else.
package viz
