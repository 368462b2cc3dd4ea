package rehearsal_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// A rule joined with distillation, herding and nearest means; the same by name is "emgd-gmc+der-pp+herding+ncm".
func Example() {
	m, err := method.Make(method.EMGDGMC{Tau: 10}, rehearsal.Distill{Alpha: new(0.2)}, rehearsal.Herding{}, rehearsal.NearestMean{})
	if err != nil {
		log.Fatal(err)
	}
	_, predicts := method.As[rehearsal.Predictor](m)
	_, curates := method.As[rehearsal.Curator](m)
	fmt.Println(m.Info().Name, "predicts by a rule of its own:", predicts, "chooses what is kept:", curates)
	// Output: emgd-gmc+der-pp+herding+ncm predicts by a rule of its own: true chooses what is kept: true
}
