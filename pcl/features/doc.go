// Package features turns pictures into features, the outputs of a network that was trained on many
// other pictures, for learners that train on these features in place of pixels.
//
// Features are kept as codes of 8 bits ([Encode]). A code is a function of its picture alone, and sums
// of codes and of their products are exact, in any order.
package features
