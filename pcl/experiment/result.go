package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// result returns the run's result, with everything that docs/protocol.md §4 lists.
func (r *runner) result() (*results.Run, error) {
	theta, err := r.learner.Parameters()
	if err != nil {
		return nil, err
	}
	statistics, err := r.learner.Statistics()
	if err != nil {
		return nil, err
	}
	var pixels [][]float32
	for _, it := range r.learner.Memory().Samples() {
		pixels = append(pixels, it.Pixels)
	}
	config, _ := json.Marshal(r.config) // Check found that this can be done
	out := &results.Run{
		ID:     r.config.ID(),
		Method: r.config.Method, MethodTitle: r.learner.MethodInfo().Title, Params: r.config.Params,
		Variant: r.config.variant(),
		Dataset: r.config.Dataset, Increment: r.config.Increment,
		LabelSet: r.config.LabelSet, Timeline: r.config.Timeline, Seed: r.config.Seed, Config: config,
		Steps: r.learner.Steps(), Tasks: r.state.Tasks, Curve: r.state.Curve,
		Skipped: r.state.Skipped, SkippedSamples: r.state.Samples, Rejected: r.state.Rejected,
		DivergedAt:   r.state.divergedAt(r.scenario.LastStep()+1, theta),
		ModelSHA256:  sum(theta, statistics),
		MemorySHA256: sum(pixels...),
		Measured:     r.measured(),
	}
	sums, err := r.learner.Sums()
	if err != nil {
		return nil, err
	}
	if sums != nil { // what predicts is not the network
		out.ModelSHA256 = fmt.Sprintf("%x", sha256.Sum256(sums))
	}
	if out.Measured.StoredBytes, out.Measured.StatisticsBytes, err = r.learner.MemoryBytes(); err != nil {
		return nil, err
	}
	out.Drift = driftOf(r.learner.Memory().Samples())
	for _, k := range r.state.PerK {
		if k.Steps > 0 {
			out.PerK = append(out.PerK, k)
		}
	}
	for i := range out.Tasks {
		if r.config.joint() { // whose one stream has their losses
			out.Tasks[i].LossFirst, out.Tasks[i].LossLast = out.Tasks[0].LossFirst, out.Tasks[0].LossLast
		}
	}
	n := float64(len(out.Tasks))
	for _, t := range out.Tasks {
		out.A += 100 * t.AccFinal / n
		out.AFirst += 100 * t.AccEnd / n
	}
	out.F = out.A - out.AFirst
	return out, nil
}

// driftOf returns how far the pixels of samples that were edited are from their original values, ‖x
// − x_original‖∞; nil if none was.
func driftOf(stored memory.Samples) *results.Drift {
	d := results.Drift{}
	for _, it := range stored {
		if it.Original == nil {
			continue
		}
		drift := float32(0)
		for p, x := range it.Original {
			drift = max(drift, it.Pixels[p]-x, x-it.Pixels[p])
		}
		d.Samples, d.Mean, d.Max = d.Samples+1, d.Mean+float64(drift), max(d.Max, float64(drift))
	}
	if d.Samples == 0 {
		return nil
	}
	d.Mean /= float64(d.Samples)
	return &d
}

// sum returns the SHA-256 of arrays in hexadecimal. Two models, or two memories, are the same if
// their sums are.
func sum(arrays ...[]float32) string {
	h := sha256.New()
	for _, x := range arrays {
		_ = binary.Write(h, binary.LittleEndian, x) // of numbers there is no error
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (r *runner) measured() results.Measured {
	m := r.state.Measured
	m.Finished = time.Now()
	if ms, ok := r.state.Steady.millis(); ok {
		m.StepMillis = ms
	} else {
		m.StepMillis = 1000 * m.TrainSeconds / float64(max(1, r.learner.Steps()))
	}
	m.PeakRSS = max(m.PeakRSS, PeakRSS())
	m.Compilations = r.state.Steady.compiled
	if len(m.Parts) == 1 && m.Parts[0].From == 0 {
		m.Parts = nil // a single part that is the whole run need not be listed
	}
	return m
}

// beginPart notes from which step on this process makes the run, and on which backend and device.
func (r *runner) beginPart() {
	m := &r.state.Measured
	m.Maker = r.maker()
	m.Parts = append(m.Parts, results.Part{From: r.learner.Steps(), Begun: r.begun, Maker: m.Maker})
}

func (r *runner) maker() results.Maker {
	info := r.machine.backend.Info
	m := results.Maker{Backend: info.Name, Device: info.Device, Threads: info.Threads, GoVersion: runtime.Version(),
		Program: r.program}
	m.Version, m.Commit = origin.Version()
	return m
}

// Progress says how far a run has come.
type Progress struct {
	Step, Steps int     // steps made so far, and steps of the whole run
	K           int     // number of rows of the last step
	Loss        float64 // mean loss of these rows; NaN if there was none
	Skipped     int     // number of rows left out so far, because something was not finite
	// steps per second, without the first of each number of rows, for which programs are compiled
	PerSecond float64
	ETA       time.Duration // time that the remaining steps will take, estimated from PerSecond

	// The learner after the step, and the step's report, which is valid only during the call. Look
	// at the learner (evaluate it, take a snapshot, read the memory), but do not change it: the
	// result is kept under the configuration.
	Learner *pcl.Learner
	Report  *pcl.StepReport
}

// report is the progress after a step.
func (r *runner) report(s *pcl.StepReport) Progress {
	p := Progress{
		Step: r.learner.Steps(), Steps: r.scenario.TrainingSteps(), K: len(s.IDs), Skipped: r.state.Skipped,
		Learner: r.learner, Report: s,
	}
	if p.K == 0 {
		p.Loss = math.NaN()
	}
	for _, loss := range s.Losses {
		p.Loss += loss / float64(len(s.Losses))
	}
	if ms, ok := r.state.Steady.millis(); ok {
		p.PerSecond = 1000 / ms
		p.ETA = time.Duration(float64(p.Steps-p.Step) / p.PerSecond * float64(time.Second))
	}
	return p
}
