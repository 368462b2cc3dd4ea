package viz_test

import (
	"log"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/scenario"
	"github.com/parallelcl/parallelcl/pcl/stats"
	"github.com/parallelcl/parallelcl/viz"
)

// save writes an example's figure to testdata, where a test compares it with the one that is kept.
// The examples' runs and records come from there too; a program would read its own with
// results.Load and results.ReadRecords.
func save(name string, fig *viz.Figure, err error) {
	if err == nil {
		err = fig.Save("testdata/" + name + ".png")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleScenarios() {
	var all []*scenario.Scenario
	for _, kind := range []string{"all_at_once", "serial", "parallel"} {
		perClass := make([]int, 60) // training samples
		for i := range perClass {
			perClass[i] = 400
		}
		s, err := scenario.Generate(scenario.Options{
			Dataset: "glyphs", Increment: "task", Kind: kind,
			Tasks: 5, MinClasses: 12, MaxClasses: 12, Batch: 32, Epochs: 1,
		}, perClass)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, s)
	}
	fig, err := viz.Scenarios(all...)
	save("scenarios", fig, err)
}

func ExampleTimeline() {
	runs := only(loadRuns("methods.jsonl.gz"), "class", "emgd-gmc")
	fig, err := viz.Timeline(runs[0])
	save("timeline", fig, err)
}

func ExampleAccuracy() {
	runs := only(loadRuns("methods.jsonl.gz"), "class") // six methods, three seeds each
	fig, err := viz.Accuracy(runs...)
	save("accuracy", fig, err)
}

func ExampleTaskAccuracy() {
	runs := only(loadRuns("methods.jsonl.gz"), "class", "avggrad", "er", "mgda", "emgd-gmc")
	fig, err := viz.TaskAccuracy(runs...)
	save("taskaccuracy", fig, err)
}

func ExampleTaskCurves() {
	fig, err := viz.TaskCurves(invented.Run("emgd-gmc", "EMGD (GMC)", 1)) // evaluated every 20 steps
	save("taskcurves", fig, err)
}

func ExampleAccuracyMatrix() {
	runs := only(loadRuns("methods.jsonl.gz"), "class", "a-gem", "avggrad", "emgd-gmc")
	fig, err := viz.AccuracyMatrix(runs...)
	save("accuracymatrix", fig, err)
}

func ExampleLearningProcess() {
	fig, err := viz.LearningProcess(loadRuns("methods.jsonl.gz")...)
	save("learningprocess", fig, err)
}

func ExampleProfiles() {
	fig, err := viz.Profiles(loadRuns("methods.jsonl.gz")...)
	save("profiles", fig, err)
}

// The runs of every method that come with the program, and those with a row for each finished task.
func ExampleTradeOff() {
	var files []string
	for _, size := range []string{"test-split", "glyphs", "cifar"} {
		files = append(files, "../grids/results/presets-"+size+".csv", "../grids/results/controls-rows-"+size+".csv")
	}
	all, err := rows.Files(files...)
	if err != nil {
		log.Fatal(err)
	}
	fig, err := viz.TradeOff(rows.Runs(all)...)
	save("tradeoff", fig, err)
}

func ExampleMemorySize() {
	fig, err := viz.MemorySize(loadRuns("memory.jsonl.gz")...)
	save("memorysize", fig, err)
}

func ExampleTemperature() {
	runs := loadRuns("temperature.jsonl.gz")
	for _, increment := range []string{"task", "class"} { // as levels
		runs = append(runs, only(loadRuns("methods.jsonl.gz"), increment, "avggrad", "mgda")...)
	}
	fig, err := viz.Temperature(runs...)
	save("temperature", fig, err)
}

// Each pair of methods is compared by Wilcoxon's test, with Holm's correction; five methods take
// nine situations. Methods of one rank stand side by side, each with its own marker and line.
func ExampleCriticalDifference() {
	var scores [][]float64
	for i := range 12 {
		x := 40 + float64(i*5%7)
		scores = append(scores, []float64{x + 6, x + 4 + float64(i%4), x + 3 + float64(i*3%5), x + 3 + float64(i*2%3), x - 8})
	}
	compared, err := stats.Compare(scores, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"emgd-gmc", "mgda", "avggrad", "er", "pcgrad"}
	fig, err := viz.CriticalDifference(names, names, compared)
	save("ranks", fig, err)
}

func ExampleCertificates() {
	fig, err := viz.Certificates(loadRecords())
	save("certificates", fig, err)
}

func ExampleStreamWeights() {
	fig, err := viz.StreamWeights(loadRecords())
	save("streamweights", fig, err)
}

func ExampleConflicts() {
	fig, err := viz.Conflicts(loadRecords())
	save("conflicts", fig, err)
}

func ExampleRatio() {
	fig, err := viz.Ratio(
		[]float64{1, 0.5, 0.5, 1},   // equal lengths at 60°
		[]float64{1, -0.6, -0.6, 4}, // a conflict, the second twice as long
		[]float64{1, 1.2, 1.2, 4},   // agreement, the second twice as long
	)
	save("ratio", fig, err)
}

func ExampleStepGeometry() {
	gradients := [][]float64{{1, 0.2, 0}, {-0.8, 2, 0.5}, {0.8, 1.5, -1}}
	p, err := emgd.FromGradients(gradients)
	if err != nil {
		log.Fatal(err)
	}
	sigma := make([]float64, 3)
	if err := new(emgd.Elastic).Factors([]int{1, 2, 3}, p, sigma); err != nil {
		log.Fatal(err)
	}
	step, err := new(emgd.Solver).Solve(p, sigma)
	if err != nil {
		log.Fatal(err)
	}
	fig, err := viz.StepGeometry(p, step)
	save("stepgeometry", fig, err)
}

// The features are brought to two dimensions by their principal components; t-SNE does as well.
func ExampleFeatures() {
	fig, err := viz.Features(nil, loadStudy().Maps...)
	save("features", fig, err)
}

func ExampleEditedImages() {
	fig, err := viz.EditedImages(loadStudy().Images...)
	save("editedimages", fig, err)
}

func ExampleToyDescent() {
	fig, err := viz.ToyDescent(invented.Descents()...)
	save("toydescent", fig, err)
}

func ExampleToyPaths() {
	fig, err := viz.ToyPaths(invented.Descents()...)
	if err == nil {
		fig.Width = 280 // a column of a page
	}
	save("toypaths", fig, err)
}

func ExampleToyLosses() {
	fig, err := viz.ToyLosses(invented.Descents()...)
	save("toylosses", fig, err)
}
