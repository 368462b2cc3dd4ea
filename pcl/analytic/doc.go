// Package analytic learns from sums over 8-bit features instead of by gradients (docs/method.md
// §12): a [Model] adds samples up, and a [Head] solves for the weights of a linear classifier.
//
// All sums are sums of whole numbers, which float64 holds exactly. So they are the same, bit by
// bit, in whatever order samples arrive, however they are divided into streams and batches, and on
// any number of cores; and [Model.Unlearn] leaves exactly what would be there if a task had never
// come. The weights follow from the sums in an order of operations that is always the same.
package analytic
