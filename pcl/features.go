package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Features returns, for each sample, its features and its class id. The features are the input of the
// classifier at the current parameters. Batch normalisation uses the running statistics, as in
// [Learner.Evaluate].
func (l *Learner) Features(s data.Samples) (features [][]float64, class []int, err error) {
	if err := l.enter(false); err != nil {
		return nil, nil, err
	}
	defer l.leave()
	err = guarded("reading the samples", func() (err error) { features, class, err = l.features(s); return err })
	return features, class, err
}

func (l *Learner) features(s data.Samples) (features [][]float64, class []int, err error) {
	b, err := l.newBatch()
	if err != nil {
		return nil, nil, fmt.Errorf("pcl: features: %w", err)
	}
	defer b.Free()
	n := s.Len()
	for from := 0; from < n; from += l.options.Batch {
		if err := b.Read(s, n, from, method.Memory); err != nil {
			return nil, nil, fmt.Errorf("pcl: features: the samples have %w", err)
		}
		class = append(class, b.Class[:b.N]...)
		_, rows, err := l.describeAt(l.network.theta, b, l.options.lossOf(method.Memory))
		if err != nil {
			return nil, nil, fmt.Errorf("pcl: features: %w", err)
		}
		for _, row := range rows {
			wide := make([]float64, len(row))
			for k, v := range row {
				wide[k] = float64(v)
			}
			features = append(features, wide)
		}
	}
	return features, class, nil
}
