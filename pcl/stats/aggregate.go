package stats

// Mean is the mean of all runs, in the unit of the scores.
func Mean(situations [][]float64) float64 {
	sum, n := 0.0, 0
	for _, t := range situations {
		for _, x := range t {
			sum += x
			n++
		}
	}
	return sum / float64(n)
}

// MeanDifference is the mean of a − b over all runs, in the unit of the scores.
func MeanDifference(a, b [][]float64) float64 { return Mean(a) - Mean(b) }

// Improvement is the probability, from 0 to 1, that a run of the first method is better than a run of the second in the
// same situation, drawn apart from each other: the mean over the situations of the share of pairs of runs with
// a > b, where a = b counts half (Mann and Whitney's U over the number of pairs).
//
// Source: R. Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS 2021.
func Improvement(a, b [][]float64) float64 {
	sum := 0.0
	for t := range a {
		won := 0.0
		for _, x := range a[t] {
			for _, y := range b[t] {
				switch {
				case x > y:
					won++
				case x == y:
					won += 0.5
				}
			}
		}
		sum += won / float64(len(a[t])*len(b[t]))
	}
	return sum / float64(len(a))
}
