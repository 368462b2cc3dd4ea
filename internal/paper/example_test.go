package paper_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Claims of the paper that hold in the results of the repository.
func Example() {
	all, err := rows.Files("../../grids/results/best-test-split.csv")
	if err != nil {
		log.Fatal(err)
	}
	f, err := paper.New(all)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range f.Claims {
		if v.Outcome == paper.Holds {
			fmt.Println(v.Outcome+":", v.Text)
		}
	}
	// Output:
	// holds: Class-incremental, MGDA forgets far less than averaging the gradients.
	// holds: A-GEM and MDMTR stay below averaging the gradients, in both increments.
}
