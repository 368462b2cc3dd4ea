package viz

import (
	"testing"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

func TestRanks(t *testing.T) {
	var scores [][]float64
	for i := range 9 {
		scores = append(scores, []float64{50, 60 + float64(i)})
	}
	r, err := stats.Compare(scores, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	fig, err := Ranks([]string{"er", "mgda"}, []string{"ER", "MGDA"}, r)
	if err != nil {
		t.Fatal(err)
	}
	if last := fig.Data.Rows[1]; last[0] != "ER" || last[1] != 2. || last[3] != r.Adjusted[0][1] || last[4] != 1. {
		t.Errorf("ER's line is %v", last)
	}
}
