package grid

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// fakeResult is a result of a configuration.
func fakeResult(c experiment.Config) *results.Run {
	config, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	program, err := origin.Program()
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(config)
	a := float64(sum[0]) / 256
	return &results.Run{
		ID: c.ID(), Method: c.Method, Params: c.Params, Dataset: c.Dataset, Increment: c.Increment,
		LabelSet: c.LabelSet, Timeline: c.Timeline, Seed: c.Seed, Config: config, Steps: 4,
		Tasks: []results.Task{{ID: 1, Classes: []int{0}, End: 3, AccEnd: a, AccFinal: a}},
		A:     100 * a, AFirst: 100 * a,
		Curve:       []results.Point{{Step: 3, Ended: []int{1}, Acc: []*float64{&a}, Mean: a}},
		ModelSHA256: fmt.Sprintf("%x", sum),
		Measured:    results.Measured{TrainSeconds: 0.004, Maker: results.Maker{Backend: "go", Program: program}},
	}
}

// small is a grid of 2 methods × 2 increments × seeds.
func small(t testing.TB, seeds int) *Grid {
	t.Helper()
	var list []string
	for i := range seeds {
		list = append(list, fmt.Sprint(i+1))
	}
	return parse(t, "small", fmt.Sprintf(`
		title = "A small grid"
		datasets = ["G"]
		methods = ["AvgGrad", "MGDA"]
		increments = ["task", "class"]
		labelsets = [0]
		timelines = [0]
		seeds = [%s]
		[dataset.G]
		dataset = "glyphs"
		[method.AvgGrad]
		method = "avggrad"
		[method.MGDA]
		method = "mgda"
	`, strings.Join(list, ",")))
}

// parse writes a grid to a file and reads it.
func parse(t testing.TB, name, text string) *Grid {
	t.Helper()
	return must.Get(Load(write(t, name, text), full, nil))(t)
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".toml")
	put(t, path, text)
	return path
}

// put writes a file, and makes its folder.
func put(t testing.TB, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
}

// expanded expands a grid.
func expanded(t testing.TB, g *Grid) *Grid {
	t.Helper()
	must.Do(t, g.Expand())
	return g
}

// filled returns the results of a grid whose runs have those of [fakeResult], except for those that
// fail.
func filled(t testing.TB, p *Grid, fail func(experiment.Config) string) *Results {
	t.Helper()
	dir := t.TempDir()
	for _, c := range p.Runs {
		own := filepath.Join(dir, c.Folder())
		must.Do(t, os.MkdirAll(own, 0o777))
		if fail != nil && fail(c.Config()) != "" {
			note := fmt.Sprintf(`{"failed": %q, "left": true}`, fail(c.Config()))
			put(t, filepath.Join(own, "work.json"), note)
			continue
		}
		must.Do(t, fakeResult(c.Config()).Save(filepath.Join(own, "result.json")))
	}
	r := must.Get(p.Results(dir))(t)
	return r
}

// finishedRuns returns the runs that are finished.
func finishedRuns(r *Results) (runs []*results.Run) {
	for _, c := range r.Runs {
		if run := r.states[c.ID()].Run; run != nil {
			runs = append(runs, run)
		}
	}
	return runs
}
