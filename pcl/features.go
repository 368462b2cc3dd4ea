package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Features returns the classifier's input for each sample at the present θ, [len][F], and the samples'
// class ids. They are normalised with running statistics, as in [Learner.Evaluate].
func (l *Learner) Features(s Samples) (features [][]float64, class []int, err error) {
	if err := l.enter(false); err != nil {
		return nil, nil, err
	}
	defer l.leave()
	defer recovered(&err, "reading the samples")
	b, err := l.newBatch()
	if err != nil {
		return nil, nil, fmt.Errorf("pcl: features: %w", err)
	}
	defer b.free()
	for from := 0; from < s.Len(); from += l.options.Batch {
		b.N = min(len(b.Class), s.Len()-from)
		b.read(s, func(i int) int { return from + i })
		class = append(class, b.Class[:b.N]...)
		_, rows, err := l.describeAt(l.theta, b, lossOf(l.options.Method, method.Memory))
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

// Stored returns the samples of a rehearsal store as they are now.
func Stored(m *memory.Store) Samples {
	items := make(storedSamples, m.Len())
	for i := range items {
		items[i] = m.Item(i)
	}
	return items
}

type storedSamples []memory.Item

func (s storedSamples) Len() int { return len(s) }

func (s storedSamples) Sample(i int, x []float32) (class int) {
	copy(x, s[i].Pixels)
	return s[i].Class
}
