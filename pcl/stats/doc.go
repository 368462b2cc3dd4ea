// Package stats says what the scores of repeated runs show: spreads, confidence intervals, and
// which methods differ.
//
// A [Score] is one number of one run, such as A in percent, with the run's [Trial]: a [Situation],
// which is a label set and a timeline, and a seed. Numbers keep the unit that they come in;
// p-values, levels and probabilities lie between 0 and 1.
//
// [Summarize] gives the two deviations of docs/protocol.md §3.2. [Contrasts] tells which methods
// differ from a reference over the [Situations] that they share, with intervals; [Compare] does so
// for all pairs of methods. The tests behind them are exact: of sign flips, and Wilcoxon's of
// ranks; [Holm] corrects several.
package stats
