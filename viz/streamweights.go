package viz

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// StreamWeights draws each stream's weight over the steps: for EMGD methods its elastic factor σ, which is
// the share that it is guaranteed, and the weight λ that this took; for all methods the weight w that was
// applied, if it is not λ itself. Steps are grouped so that at most some 250 points remain, each the mean of
// its group.
func StreamWeights(t *Theme, records []results.Record) (*Figure, error) {
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	certificates, rescaled := true, false
	for i := range records {
		r := &records[i]
		if len(r.Weights) != len(r.IDs) {
			return nil, fmt.Errorf("viz: the record of step %d has %d weights for %d streams", r.Step, len(r.Weights), len(r.IDs))
		}
		certificates = certificates && len(r.Lambda) == len(r.IDs) && len(r.Sigma) == len(r.IDs)
		rescaled = rescaled || !slices.Equal(r.Weights, r.Lambda)
	}
	bucket := bucketOf(records)
	var plots []*Plot
	if certificates {
		plots = []*Plot{t.streamPlot(records, bucket, "elastic factor σ", sigmaOf), t.streamPlot(records, bucket, "weight λ", lambdaOf)}
	}
	if rescaled || !certificates {
		plots = append(plots, t.streamPlot(records, bucket, "applied weight w", func(r *results.Record) []float64 { return r.Weights }))
	}
	return t.overSteps(records, layout{name: "stream-weights", data: recordTable(records), height: vg.Length(40 + 140*len(plots)),
		key: append(streamsOf(records...).key(t), bucketKey(bucket)...),
		alt: fmt.Sprintf("Weights of each stream over %d steps.", len(records)),
	}, plots...)
}
