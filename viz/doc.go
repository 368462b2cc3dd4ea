// Package viz draws every figure of the library from results, with gonum/plot.
//
// Each figure is a function, in a file of its own, from results to a [Figure]; it keeps no state and reads no
// files. A method has the same colour, marker and dash in every figure, unless another method of the figure has them
// already ([MethodStyles]). Several runs of a method are shown by their mean and a band, or bars, of one population standard
// deviation. A figure can be saved as a picture, and its numbers as CSV ([Figure.Data]). In pages one drawing serves light
// and dark screens. The comment of each function says what the figure must show.
//
// The figures of the paper (arXiv 2401.01054): [Scenarios] and [Timeline] (1); [ToyDescent], [ToyPaths] and [ToyLosses] (2);
// [StepGeometry] (3); [Ratio] (4); [MemorySize] (5); [EditedImages] (6); [LearningProcess] and [Accuracy] (7); [Temperature] (8);
// [Features] (9). Beyond it: [TaskCurves], [TaskAccuracy], [AccuracyMatrix], [Ranks], [Certificates], [StreamWeights] and
// [Conflicts]; for the runs of whole tables, [Profiles] and [TradeOff]; [Cover], which joins three for a README.
//
// Figures of your own are made of plots in the same style: [NewPlot], [Plot.Line], [Plot.Points], [Plot.Band],
// [Plot.Series], [Plots]. Their colours come from names: [MethodStyle], [MethodStyles].
package viz
