// Package stats says what the scores of repeated runs show: spreads, confidence intervals, and which methods differ.
//
// A [Score] is one number of one run, such as A in percent, with the run's place in the benchmark: its label set,
// timeline and seed. Numbers keep the unit that they come in; p-values, levels and probabilities lie between 0 and 1.
//
// [Summarize] gives the two deviations of docs/protocol.md §3.2. [Bootstrap] gives confidence intervals of a
// statistic, such as [Mean], and [BootstrapPair] those of a comparison of two methods, such as [MeanDifference] or
// [Improvement]. [SignFlip] and [Wilcoxon] test whether two methods differ over the pairs that [Situations]
// returns, [Holm] corrects several such tests, and [Compare] does so for all pairs of methods.
//
// Tests refuse, with a [TooFewError], numbers of pairs that could not show a difference whatever their values.
package stats
