package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/features"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// What stands beside the compared methods takes at most mostBeside of the time of their runs, of
// which the same network on all tasks at once takes at most mostAtOnce (docs/protocol.md §3.6).
const (
	mostBeside = 0.3
	mostAtOnce = 0.2
	mostPasses = 4 // over the samples of all tasks; a run makes about one, and repeats its memory
)

// atOnce lists runs of the same network on all tasks at once, for each increment in the first of
// its situations. A pass counts as much as a run; where there are few runs, there are fewer passes,
// and below five none. A scenario that is played has a timeline of its own, and so none.
func atOnce(configs []experiment.Checked) (out []experiment.Checked, err error) {
	for _, own := range byIncrement(configs) {
		share := int(mostAtOnce * float64(len(own)))
		passes := min(mostPasses, share)
		for _, at := range firstRuns(own, share/max(1, passes)) {
			if at.Scenario != nil {
				continue
			}
			checked, err := at.AllAtOnce(passes).Check()
			if err != nil {
				return nil, err
			}
			out = append(out, checked)
		}
	}
	return out, nil
}

// fewForAtOnce says why a table has no row for it.
const fewForAtOnce = "There is no row for the same network on all tasks at once: beside fewer than five drawn runs " +
	"it would take too long."

// noteOfBeside says that there are runs beside those of the methods.
func noteOfBeside(beside []experiment.Checked) string {
	if len(beside) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them on all tasks at once)", len(beside))
}

// byIncrement divides configurations, in order of first appearance.
func byIncrement(configs []experiment.Checked) (out [][]experiment.Config) {
	at := map[string]int{}
	for _, one := range configs {
		c := one.Config()
		i, known := at[c.Increment]
		if !known {
			i = len(out)
			at[c.Increment], out = i, append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// firstRuns returns the configurations of the first method in so many situations, or in all.
func firstRuns(configs []experiment.Config, n int) (out []experiment.Config) {
	seen := map[[2]uint64]bool{}
	for _, c := range configs {
		if at := [2]uint64{c.LabelSet, c.Timeline}; !seen[at] && len(seen) < n {
			seen[at] = true
			out = append(out, c)
		}
	}
	return out
}

// onFeatures makes runs of lda on features, for the rows beside the methods, if that needs no
// download and at most the time that is left for it. What it cannot make is not an error: the
// advice says why.
type onFeatures struct {
	machine  *experiment.Machine
	store    experiment.Store
	schedule experiment.Schedule
	data     datasets.Options
	command  string  // that makes the whole comparison on features
	opened   float64 // seconds that opening the pictures took
}

// make returns the runs, and what is known of features.
func (o *onFeatures) make(
	rc *runContext, set *datasets.Dataset, configs []experiment.Checked, seconds float64,
) ([]*results.Run, versus.Features, error) {
	of, already := features.Lite0, configs[0].Config().Features
	f := versus.Features{Command: o.command, Possible: already == "" && experiment.HasPictures(set) == nil}
	if already != "" {
		of = already
	}
	if already == "" && !f.Possible || configs[0].Config().Scenario != nil || slices.ContainsFunc(configs, isLDA) {
		return nil, f, nil
	}
	chosen, missing, untried := o.choose(rc, of, configs, seconds)
	if f.Untried = untried; len(chosen) == 0 {
		return nil, f, nil
	}
	rc.note("Beside the methods, lda on features, in as many situations as there is time for")
	began := time.Now()
	if _, err := o.machine.DatasetOf(rc.ctx, chosen[0][0].Config()); err != nil {
		if rc.ctx.Err() != nil {
			return nil, f, experiment.ErrInterrupted
		}
		f.Untried = err.Error()
		return nil, f, nil
	}
	if missing > 0 {
		f.Seconds = time.Since(began).Seconds()
	}
	runs, err := o.each(rc, chosen, seconds-o.opened-secondsPerPicture*float64(missing))
	if err != nil && !errors.Is(err, experiment.ErrInterrupted) {
		f.Untried = err.Error()
		return nil, f, nil
	}
	return runs, f, err
}

// each makes the runs of one situation after another, until the next would take longer than there
// are seconds left. What a run takes is read from its result, also if it was finished before.
func (o *onFeatures) each(rc *runContext, chosen [][]experiment.Checked, left float64) (out []*results.Run, err error) {
	for i, situation := range chosen {
		if took := besideTook(out); i > 0 && took+took/float64(i) > left {
			break
		}
		runs, err := collect(rc, situation, o.store, o.schedule, "")
		if err != nil {
			return nil, err
		}
		out = append(out, runs...)
	}
	return out, nil
}

func besideTook(runs []*results.Run) (seconds float64) {
	for _, r := range runs {
		seconds += r.Measured.Seconds()
	}
	return seconds
}

func isLDA(c experiment.Checked) bool { return c.Config().Method == "lda" && c.Config().Features != "" }

// Times of one core that computing features takes, where it is not known better (docs/features.md).
const (
	secondsPerPicture = 0.006
	secondsPerRun     = 3
)

// choose returns runs of lda, those of all increments of a situation together, and how many
// pictures have no features yet; or why there is no time for any.
func (o *onFeatures) choose(
	rc *runContext, of string, configs []experiment.Checked, seconds float64,
) (out [][]experiment.Checked, missing int, untried string) {
	first := configs[0].Config().BesideFeatures(of)
	spec, err := features.Parse(first.Features)
	if err != nil {
		return nil, 0, err.Error()
	}
	if !features.Here(spec, "") {
		return nil, 0, "the weights of the pretrained network are not on this machine yet (17 MB, fetched once)"
	}
	long := fmt.Sprintf("it would take more than %.0f %% of the time of the other runs", 100*mostBeside)
	if o.opened > seconds {
		return nil, 0, long
	}
	_, missing, err = o.machine.MissingFeatures(rc.ctx, first)
	if err != nil {
		return nil, 0, err.Error()
	}
	groups := byIncrement(configs)
	if seconds-o.opened-secondsPerPicture*float64(missing) < secondsPerRun*float64(len(groups)) {
		return nil, 0, long
	}
	for _, own := range groups {
		for i, c := range firstRuns(own, len(own)) {
			checked, err := o.check(rc.ctx, c.BesideFeatures(of))
			if err != nil {
				return nil, 0, err.Error()
			}
			if i == len(out) {
				out = append(out, nil)
			}
			out[i] = append(out[i], checked)
		}
	}
	return out, missing, ""
}

// check returns the configuration with the checksum of its data, as features are made of them.
func (o *onFeatures) check(ctx context.Context, c experiment.Config) (experiment.Checked, error) {
	c.DataSHA256 = ""
	checked, err := c.Check()
	if err != nil {
		return checked, err
	}
	return checked.OnData(ctx, o.data)
}

// notForFeatures are flags of this command that say how pixels are learnt. The others have values.
var notForFeatures = []string{"--model", "--width", "--hidden", "--init", "--augment", "--lr", "--release"}

// withFeatures is this command on features.
func withFeatures(args []string) string {
	var kept []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		if !slices.Contains(notForFeatures, name) {
			kept = append(kept, args[i])
		} else if !joined && name != "--release" {
			i++
		}
	}
	return "pcl " + quoted(append(kept, "--features", features.Lite0)...)
}

// besideSeconds is the time that is left for features: a share of the runs' time, without what the
// runs beside the methods have taken.
func besideSeconds(runs []*results.Run) (left float64) {
	for _, r := range runs {
		took := r.Measured.Seconds()
		if left += mostBeside * took; r.Beside() {
			left -= (1 + mostBeside) * took
		}
	}
	return left
}
