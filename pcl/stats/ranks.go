package stats

import "math"

// AverageRanks returns the average rank of each method over the situations of
// scores[situation][method], from 1 for the best. Higher scores are better; equal ones, also those
// that differ by rounding only, share the mean of their ranks. There must be at least one
// situation.
func AverageRanks(scores [][]float64) []float64 {
	ranks := make([]float64, len(scores[0]))
	for _, row := range scores {
		same := 0.0 // scores no further apart count as equal, as in the significance tests
		for _, score := range row {
			same = max(same, sameWithin*math.Abs(score))
		}
		for j, score := range row {
			ranks[j] += rankIn(row, score, same)
		}
	}
	for j := range ranks { // sums of halves, which do not round
		ranks[j] /= float64(len(scores))
	}
	return ranks
}

// rankIn is the mean place of a score among a row's, from 1, where scores no further apart than
// same are equal.
func rankIn(row []float64, score, same float64) float64 {
	rank := 0.5
	for _, other := range row {
		switch {
		case math.Abs(other-score) <= same:
			rank += 0.5
		case other > score:
			rank++
		}
	}
	return rank
}
