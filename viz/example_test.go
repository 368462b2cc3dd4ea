package viz_test

import (
	"log"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/scenario"
	"github.com/parallelcl/parallelcl/viz"
)

// What each example draws is kept in testdata and compared by the tests. The runs and records that a
// program would read with results.Load and results.ReadRecords come from there too.

// save writes an example's figure.
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
	for _, kind := range []scenario.Kind{scenario.AllAtOnce, scenario.Serial, scenario.Parallel} {
		perClass := make([]int, 60) // training samples
		for i := range perClass {
			perClass[i] = 400
		}
		s, err := scenario.Generate(scenario.Options{
			Dataset: "glyphs", Increment: scenario.TaskIncremental, Kind: kind,
			Tasks: 5, MinClasses: 12, MaxClasses: 12, Batch: 32, Epochs: 1,
		}, perClass)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, s)
	}
	fig, err := viz.Scenarios(viz.Light, all...)
	save("scenarios", fig, err)
}

func ExampleTimeline() {
	runs := only(loadRuns("methods.jsonl.gz"), "class", "emgd-gmc")
	fig, err := viz.Timeline(viz.Light, runs[0])
	save("timeline", fig, err)
}

func ExampleAccuracy() {
	runs := only(loadRuns("methods.jsonl.gz"), "class") // six methods, three seeds each
	fig, err := viz.Accuracy(viz.Light, runs...)
	save("accuracy", fig, err)
}

func ExampleTaskAccuracy() {
	runs := only(loadRuns("methods.jsonl.gz"), "class", "avggrad", "er", "mgda", "emgd-gmc")
	fig, err := viz.TaskAccuracy(viz.Light, runs...)
	save("taskaccuracy", fig, err)
}

func ExampleTaskCurves() {
	fig, err := viz.TaskCurves(viz.Light, invented.Run("emgd-gmc", "EMGD (GMC)", 1)) // evaluated every 20 steps
	save("taskcurves", fig, err)
}

func ExampleAccuracyMatrix() {
	runs := only(loadRuns("methods.jsonl.gz"), "class", "a-gem", "avggrad", "emgd-gmc")
	fig, err := viz.AccuracyMatrix(viz.Light, runs...)
	save("accuracymatrix", fig, err)
}

func ExampleLearningProcess() {
	fig, err := viz.LearningProcess(viz.Light, loadRuns("methods.jsonl.gz")...)
	save("learningprocess", fig, err)
}

func ExampleProfiles() {
	fig, err := viz.Profiles(viz.Light, loadRuns("methods.jsonl.gz")...)
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
	runs, err := rows.Runs(all)
	if err != nil {
		log.Fatal(err)
	}
	fig, err := viz.TradeOff(viz.Light, runs...)
	save("tradeoff", fig, err)
}

func ExampleMemorySize() {
	fig, err := viz.MemorySize(viz.Light, loadRuns("memory.jsonl.gz")...)
	save("memorysize", fig, err)
}

func ExampleTemperature() {
	runs := loadRuns("temperature.jsonl.gz")
	for _, increment := range []string{"task", "class"} { // as levels
		runs = append(runs, only(loadRuns("methods.jsonl.gz"), increment, "avggrad", "mgda")...)
	}
	fig, err := viz.Temperature(viz.Light, runs...)
	save("temperature", fig, err)
}

func ExampleCriticalDifference() {
	ranking, err := viz.RankRuns(0.05, loadRuns("methods.jsonl.gz")...)
	if err != nil {
		log.Fatal(err)
	}
	fig, err := viz.CriticalDifference(viz.Light, ranking)
	save("criticaldifference", fig, err)
}

// Each pair of methods is compared by Wilcoxon's test, with Holm's correction; five methods take nine situations.
func ExampleRanking_ByWilcoxon() {
	var scores [][]float64
	for i := range 12 {
		x := 40 + float64(i*5%7)
		scores = append(scores, []float64{x + 6, x + 4 + float64(i%4), x + 3 + float64(i*3%5), x + 3 + float64(i*2%3), x - 8})
	}
	ranking, err := viz.Rank([]string{"emgd-gmc", "mgda", "avggrad", "er", "pcgrad"}, scores, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	if ranking, err = ranking.ByWilcoxon(); err != nil {
		log.Fatal(err)
	}
	fig, err := viz.CriticalDifference(viz.Light, ranking)
	save("bywilcoxon", fig, err)
}

// Methods of one rank stand side by side, each with its own marker and line.
func ExampleCriticalDifference_equalRanks() {
	scores := [][]float64{{4, 3, 3, 3, 1}, {4, 3, 3, 3, 1}, {3, 2, 2, 2, 4}}
	ranking, err := viz.Rank([]string{"emgd-gmc", "mgda", "avggrad", "er", "pcgrad"}, scores, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	fig, err := viz.CriticalDifference(viz.Light, ranking)
	save("equalranks", fig, err)
}

func ExampleCertificates() {
	fig, err := viz.Certificates(viz.Light, loadRecords())
	save("certificates", fig, err)
}

func ExampleSlacks() {
	fig, err := viz.Slacks(viz.Light, loadRecords())
	save("slacks", fig, err)
}

func ExampleStreamWeights() {
	fig, err := viz.StreamWeights(viz.Light, loadRecords())
	save("streamweights", fig, err)
}

// The mean is given the gradients that EMGD met.
func asMean(records []results.Record) []results.Record {
	out := slices.Clone(records)
	for i := range out {
		out[i].Lambda, out[i].Sigma, out[i].Slacks = nil, nil, nil
		out[i].Weights = slices.Repeat([]float64{1 / float64(len(out[i].IDs))}, len(out[i].IDs))
	}
	return out
}

func twoRecorded() []viz.Recorded {
	records := loadRecords()
	return []viz.Recorded{{Label: "AvgGrad", Method: "avggrad", Records: asMean(records)}, {Label: "EMGD (GMC)", Method: "emgd-gmc", Records: records}}
}

func ExampleGradientNorms() {
	fig, err := viz.GradientNorms(viz.Light, twoRecorded()...)
	save("gradientnorms", fig, err)
}

func ExampleMemoryRow() {
	fig, err := viz.MemoryRow(viz.Light, twoRecorded()...)
	save("memoryrow", fig, err)
}

// The records of the first half and of the second stand for two runs of one method.
func ExampleConflictShare() {
	records := loadRecords()
	half := len(records) / 2
	fig, err := viz.ConflictShare(viz.Light,
		viz.Recorded{Label: "EMGD (GMC)", Method: "emgd-gmc", Records: records[:half]},
		viz.Recorded{Label: "EMGD (GMC)", Method: "emgd-gmc", Records: records[half:]},
		viz.Recorded{Label: "all steps", Method: "emgd-gmc", Records: records})
	save("conflictshare", fig, err)
}

// The losses after the steps are invented: what is predicted to first order, and a quadratic part.
func ExamplePromises() {
	const rate = 0.05
	recorded := twoRecorded()
	for _, r := range recorded {
		for i := range r.Records {
			s := &r.Records[i]
			k := len(s.IDs)
			s.LossesAfter = slices.Clone(s.Losses)
			for a := range k {
				for b, w := range s.Weights {
					s.LossesAfter[a] -= rate * w * s.Gram[a*k+b]
				}
				s.LossesAfter[a] += 0.3 * rate * rate * s.Gram[a*k+a]
			}
		}
	}
	fig, err := viz.Promises(viz.Light, rate, recorded...)
	save("promises", fig, err)
}

func ExampleRises() {
	var rises []viz.Rise
	for i, label := range []string{"AvgGrad", "EMGD (GMC)", "EMGD (log)"} {
		for situation := range 9 {
			x := []float64{3, 13, 1}[i] + 0.3*float64(situation*5%9)
			rises = append(rises, viz.Rise{Label: label, Memory: x / 2, Tasks: x + 1, All: x})
		}
	}
	fig, err := viz.Rises(viz.Light, rises...)
	save("rises", fig, err)
}

func ExampleFeatureDrift() {
	var drifts []viz.Drift
	for i, label := range []string{"AvgGrad", "DER++", "EMGD (GMC)"} {
		for seed := range 3 {
			x := 1.1 - 0.3*float64(i) + 0.07*float64(seed*i%3)
			drifts = append(drifts, viz.Drift{Label: label, Samples: "stored", Value: x}, viz.Drift{Label: label, Samples: "test images", Value: x + 0.15})
		}
	}
	fig, err := viz.FeatureDrift(viz.Light, drifts...)
	save("featuredrift", fig, err)
}

// A gain in nine situations, no difference in nine, and three pairs, which are too few.
func ExampleClaims() {
	base := []float64{50, 52, 47, 51, 49, 55, 46, 50, 53}
	var gain, same []float64
	for i, x := range base {
		gain, same = append(gain, x+2+float64(i*5%7)), append(same, x+float64(i*4%9)-4)
	}
	fig, err := viz.Claims(viz.Light, "A in points", 0.05,
		viz.Claim{Label: "EMGD (GMC) − AvgGrad", A: gain, B: base},
		viz.Claim{Label: "with editing − without", A: same, B: base},
		viz.Claim{Label: "three seeds only", A: gain[:3], B: base[:3]})
	save("claims", fig, err)
}

func ExampleConflicts() {
	fig, err := viz.Conflicts(viz.Light, loadRecords())
	save("conflicts", fig, err)
}

func ExampleMeasuredRatio() {
	fig, err := viz.MeasuredRatio(viz.Light, loadRecords(), 2, 4) // task 4 arrives long after task 2
	save("measuredratio", fig, err)
}

func ExampleRatio() {
	fig, err := viz.Ratio(viz.Light,
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
	step, err := viz.Geometry(gradients, sigma)
	if err != nil {
		log.Fatal(err)
	}
	fig, err := viz.StepGeometry(viz.Light, step)
	save("stepgeometry", fig, err)
}

// The features are brought to two dimensions by their principal components; t-SNE does as well.
func ExampleFeatures() {
	fig, err := viz.Features(viz.Light, nil, loadStudy().Maps...)
	save("features", fig, err)
}

func ExampleEditedImages() {
	fig, err := viz.EditedImages(viz.Light, loadStudy().Images...)
	save("editedimages", fig, err)
}

// Measured on glyphs, batch 128, one thread of an AMD EPYC that had other work to do; means over the
// 376 steps of a run.
func ExampleStepTimes() {
	row := func(label string, gradients, gram, weights, update, rest float64) viz.StepTime {
		return viz.StepTime{Label: label, Parts: []viz.TimePart{
			{Name: "gradients", Millis: gradients}, {Name: "Gram matrix", Millis: gram}, {Name: "weights", Millis: weights},
			{Name: "update", Millis: update}, {Name: "rest", Millis: rest},
		}}
	}
	fig, err := viz.StepTimes(viz.Light,
		row("AvgGrad", 3.0323, 0.0002, 0.0015, 0.4427, 0.1125),
		row("MGDA", 2.9255, 0.1374, 0.0071, 0.4092, 0.1079),
		row("Nash-MTL", 2.9370, 0.1296, 0.0149, 0.4181, 0.1163),
		row("EMGD (GMC)", 2.8585, 0.1270, 0.0112, 0.4123, 0.0970),
	)
	save("steptimes", fig, err)
}

func ExampleToyDescent() {
	fig, err := viz.ToyDescent(viz.Light, descents()...)
	save("toydescent", fig, err)
}

func ExampleToyPaths() {
	fig, err := viz.ToyPaths(viz.Light, descents()...)
	if err == nil {
		fig.Width = 280 // a column of a page
	}
	save("toypaths", fig, err)
}

func ExampleToyLosses() {
	fig, err := viz.ToyLosses(viz.Dark, descents()...)
	save("toylosses", fig, err)
}
