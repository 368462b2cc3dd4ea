package viz_test

import (
	"log"

	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/internal/sample"
)

// The runs and records that a program would read with results.Load and results.ReadRecords are
// invented here; what each example draws is kept in testdata and compared by the tests.

func ExampleTimeline() {
	run := sample.Run("emgd-gmc", "EMGD (GMC)", 1234)
	fig, err := viz.Timeline(viz.Light, run)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Save("testdata/timeline.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleAccuracy() {
	runs := sample.Runs(3) // four methods, three seeds each
	fig, err := viz.Accuracy(viz.Light, runs...)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Save("testdata/accuracy.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleTaskAccuracy() {
	runs := sample.Runs(3)
	fig, err := viz.TaskAccuracy(viz.Light, runs...)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Save("testdata/taskaccuracy.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleCertificates() {
	records := sample.Records(sample.Run("emgd-gmc", "EMGD (GMC)", 1234))
	fig, err := viz.Certificates(viz.Light, records)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Save("testdata/certificates.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleToyDescent() {
	fig, err := viz.ToyDescent(viz.Light, sample.Traces()...)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Save("testdata/toydescent.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleToyPaths() {
	fig, err := viz.ToyPaths(viz.Light, sample.Traces()...)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Narrow().Save("testdata/toypaths.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleToyLosses() {
	fig, err := viz.ToyLosses(viz.Dark, sample.Traces()...)
	if err != nil {
		log.Fatal(err)
	}
	if err := fig.Save("testdata/toylosses.png"); err != nil {
		log.Fatal(err)
	}
}
