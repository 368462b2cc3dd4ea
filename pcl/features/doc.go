// Package features turns pictures into features, the outputs of a network that was trained on many
// other pictures, for learners that train on these features in place of pixels. Begin with [Parse]
// and [Of].
//
// The backbone is EfficientNet-Lite0, whose weights are fetched once, checked, and kept in the
// user's cache folder, or read from a file. Features are kept there, too: [List], [Delete] and
// [Drop] look after them.
//
// Features are kept as codes of 8 bits ([Encode]). A code is a function of its picture alone, and
// sums of codes and of their products are exact, in any order.
package features
