package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// ByHand says whether a run has no configuration of pcl run, as if somebody has added a row to
// compare with. Of such a run only the numbers can be checked, against one another.
func (r *Run) ByHand() bool { return r.Settings()["method"] == "" }

// IDOf returns the id of a run with a configuration: the beginning of the hash of its JSON.
func IDOf(config []byte) string { return fmt.Sprintf("%x", sha256.Sum256(config))[:12] }

var hash = regexp.MustCompile(`^([0-9a-f]{64})?$`)

// checkDerived computes again what follows from other parts of a file, and returns an error that
// names what is false. The id, the method, its parameters, the data set and the seeds follow from
// the configuration; means follow from the numbers that they are means of.
func (r *Run) checkDerived() error {
	if !hash.MatchString(r.ModelSHA256) || !hash.MatchString(r.MemorySHA256) {
		return fmt.Errorf("model_sha256 %.80q or memory_sha256 %.80q is not a checksum: the file was altered",
			r.ModelSHA256, r.MemorySHA256)
	}
	if err := r.checkMeans(); err != nil || r.ByHand() {
		return err
	}
	var config, escaped bytes.Buffer
	if err := json.Compact(&config, r.Config); err != nil {
		return err
	}
	json.HTMLEscape(&escaped, config.Bytes()) // as when it was hashed
	if id := IDOf(escaped.Bytes()); r.ID != id {
		return fmt.Errorf("its id is %.40q, and that of its configuration is %s: "+
			"the file was altered, or its keys put in another order", r.ID, id)
	}
	settings := r.Settings()
	for name, got := range r.derived() {
		want, configured := settings[name]
		if (configured || strings.HasPrefix(name, "params.")) && !equal(got, want) {
			return fmt.Errorf("its %s is %.80q, and in its configuration %.80q: the file was altered", name, got, want)
		}
		delete(settings, name)
	}
	for name, want := range settings {
		if strings.HasPrefix(name, "params.") {
			return fmt.Errorf("its configuration has %s %.80q, which it lacks: the file was altered", name, want)
		}
	}
	return nil
}

// derived are the settings that the run repeats from its configuration.
func (r *Run) derived() map[string]string {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	out := map[string]string{
		"method": r.Method, "dataset": r.Dataset, "increment": r.Increment,
		"labelset": number(r.LabelSet), "timeline": number(r.Timeline), "seed": number(r.Seed),
	}
	flatten(out, "params", map[string]any(r.Params))
	return out
}

// equal compares settings, of which numbers may be written in two ways.
func equal(a, b string) bool {
	x, noX := strconv.ParseFloat(a, 64)
	y, noY := strconv.ParseFloat(b, 64)
	return a == b || noX == nil && noY == nil && x == y && max(math.Abs(x), math.Abs(y)) < 1<<53
}

// checkMeans checks that the file's means are those of the accuracies in it: of classes, of tasks,
// and of the evaluations.
func (r *Run) checkMeans() error {
	var first Moment
	for _, t := range r.Tasks {
		first.Add(100 * t.AccEnd)
		if len(t.ByClass) == 0 {
			continue
		}
		if len(t.ByClass) != len(t.Classes) {
			return fmt.Errorf("task %d has %d classes and accuracies of %d", t.ID, len(t.Classes), len(t.ByClass))
		}
		n, end, final := 0, 0.0, 0.0
		for i, c := range t.ByClass {
			if c.Class != t.Classes[i] || c.Test < 0 {
				return fmt.Errorf("task %d has accuracies of class %d with %d samples in the place of class %d",
					t.ID, c.Class, c.Test, t.Classes[i])
			}
			n, end, final = n+c.Test, end+float64(c.Test)*c.AccEnd, final+float64(c.Test)*c.AccFinal
		}
		if n != t.Test || !near(float64(n)*t.AccEnd, end) || !near(float64(n)*t.AccFinal, final) {
			return fmt.Errorf(
				"task %d has accuracies %g and %g of %d samples, which are not the means of those of its classes: "+
					"the file was altered",
				t.ID, t.AccEnd, t.AccFinal, t.Test)
		}
	}
	if !near(r.AFirst, first.Mean) {
		return fmt.Errorf("the value of A_first is %g, and the mean of acc_end %g: the file was altered",
			r.AFirst, first.Mean)
	}
	for _, p := range r.Curve {
		var mean Moment
		for _, acc := range p.Acc {
			if acc != nil {
				mean.Add(*acc)
			}
		}
		if mean.N > 0 && !near(p.Mean, mean.Mean) {
			return fmt.Errorf("the evaluation at step %d has mean %g, and its accuracies %g: the file was altered",
				p.Step, p.Mean, mean.Mean)
		}
		for _, id := range p.Ended {
			if id < 1 || id > len(p.Acc) || p.Acc[id-1] == nil ||
				p.Step == r.Tasks[id-1].End && !near(*p.Acc[id-1], r.Tasks[id-1].AccEnd) {
				return fmt.Errorf("the evaluation at step %d, where task %d ends, has not its acc_end: the file was altered",
					p.Step, id)
			}
		}
	}
	return r.checkCounts()
}

// checkCounts checks that no more steps were counted by their rows than were made.
func (r *Run) checkCounts() error {
	steps := 0
	for _, k := range r.PerK {
		if steps += k.Steps; k.K < 1 || k.Steps < 0 || k.SumW.N != k.Steps {
			return fmt.Errorf("per_k counts %d steps of %d rows, and %d sums of weights: the file was altered",
				k.Steps, k.K, k.SumW.N)
		}
	}
	if steps > r.Steps {
		return fmt.Errorf("per_k counts %d steps; the run made %d: the file was altered", steps, r.Steps)
	}
	return nil
}

// near allows for the rounding of sums.
func near(x, y float64) bool { return math.Abs(x-y) <= 1e-6*max(1, math.Abs(x), math.Abs(y)) }
