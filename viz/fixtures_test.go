package viz_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"log"
	"os"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// The runs and records in testdata were measured; testdata/README.md has the commands.

func unzipped(name string, read func(io.Reader) error) {
	f, err := os.Open("testdata/" + name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	if err := read(z); err != nil {
		log.Fatal(err)
	}
}

// loadRuns reads the lines that `pcl run --json` printed.
func loadRuns(name string) (runs []*results.Run) {
	unzipped(name, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			run := new(results.Run)
			if err := json.Unmarshal(lines.Bytes(), run); err != nil {
				return err
			}
			runs = append(runs, run)
		}
		return lines.Err()
	})
	return runs
}

// only keeps the runs of one increment and, if any are named, of some methods.
func only(runs []*results.Run, increment string, methods ...string) []*results.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *results.Run) bool {
		return r.Increment != increment || len(methods) > 0 && !slices.Contains(methods, r.Method)
	})
}

func loadRecords() (records []results.Record) {
	unzipped("records.jsonl.gz", func(r io.Reader) (err error) {
		records, err = results.ReadRecords(r)
		return err
	})
	return records
}

// study is what a network of one hidden layer learnt of two tasks of five glyphs: its features
// after the first, and after the second with the rehearsal of the first, by ER and by EMGD with
// edited images.
type study struct {
	Maps   []viz.FeatureMap
	Images []viz.EditedImage
}

func loadStudy() (s study) {
	unzipped("features.json.gz", func(r io.Reader) error { return json.NewDecoder(r).Decode(&s) })
	return s
}
