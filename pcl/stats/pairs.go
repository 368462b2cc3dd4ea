package stats

// Situations returns, for each situation (label set and timeline), the mean of both methods over the seeds, in the
// same order. The methods must have been run with the same seeds in the same situations. These are the pairs to test
// where a claim is about situations: nine in a benchmark of three label sets and three timelines.
func Situations(a, b []Score) (x, y []float64, err error) {
	first, second, err := arrangePair(a, b)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range first.situations() {
		var meanA, meanB float64
		for _, i := range t {
			meanA += first.scores[i].Value / float64(len(t))
			meanB += second.scores[i].Value / float64(len(t))
		}
		x, y = append(x, meanA), append(y, meanB)
	}
	return x, y, nil
}
