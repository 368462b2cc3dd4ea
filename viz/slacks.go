package viz

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Slacks draws over the steps of an EMGD run by how much each stream gains beyond its guaranteed share, (Jᵢ·d
// − σᵢ‖d‖²)/(‖Jᵢ‖‖d‖ + σᵢ‖d‖²): 0 for streams whose guarantee is tight, more for those that descend without
// any weight, λᵢ = 0. Below it draws how far the worst slack falls below 0, as in [Certificates].
func Slacks(t *Theme, records []results.Record) (*Figure, error) {
	kept, err := withCertificate(records)
	if err != nil {
		return nil, err
	}
	bucket := bucketOf(kept)
	slack := t.streamPlot(kept, bucket, "slack, relative", relativeSlacks)
	slack.Y.Max = max(slack.Y.Max, 0.01) // rounding is not to fill the plot
	return t.overSteps(kept, layout{name: "slacks", data: recordTable(kept), height: 320,
		key: slices.Concat(streamsOf(kept...).key(t), proofKey(t), bucketKey(bucket)),
		alt: fmt.Sprintf("Slack of each stream over %d steps, and its worst breach.", len(kept)),
	}, slack, t.proofPlot(kept, bucket))
}
