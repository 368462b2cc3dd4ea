package weigh_test

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// Gradients that were computed elsewhere, and a Gram matrix that none have.
func ExampleRule_Weights() {
	rule, err := weigh.New("emgd-gmc", map[string]any{"tau": 5}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := make([]float64, 2)
	out, err := rule.Weights(&weigh.Problem{Rows: [][]float64{{-4, 1, 1}, {6, 1, 1}}}, w)
	fmt.Printf("%.4f %.4f %v %v\n", w, out.Direction, out.Certificate.Status, err)
	_, err = rule.Weights(&weigh.Problem{Gram: []float64{18, -22, 0, 38}}, w)
	fmt.Println(err)
	// Output:
	// [1.2271 0.8454] [0.1636 2.0725 2.0725] optimal <nil>
	// the gram matrix is not symmetric: row 2, entry 1 is 0, but row 1, entry 2 is -22
}
