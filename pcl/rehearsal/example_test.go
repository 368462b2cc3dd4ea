package rehearsal_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// A rule joined with distillation, herding and nearest means; the same by name is
// "emgd-gmc+der-pp+herding+ncm".
func Example() {
	m := method.Compose(&method.EMGDGMC{Tau: 10}, &rehearsal.Distill{Alpha: new(0.2)}, &rehearsal.Herding{},
		&rehearsal.NearestMean{})
	at, err := method.Start(m) // a learner does this
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(at.Info.Name, "predicts by a rule of its own:", at.Predictor != nil, "chooses what is kept:",
		at.Curator != nil)
	// Output: emgd-gmc+der-pp+herding+ncm predicts by a rule of its own: true chooses what is kept: true
}
