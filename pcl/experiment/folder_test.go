package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// played is a configuration that is run in one folder again and again.
type played struct {
	t     *testing.T
	c     Config
	w     work
	steps int // made by the last run
}

func newPlayed(t *testing.T) *played {
	return &played{t: t, c: blobConfig("avggrad"),
		w: work{Store: Store{Dir: filepath.Join(t.TempDir(), "runs")}, Schedule: Schedule{Machine: onBlobs(t)}}}
}

// dir is the folder of the run.
func (p *played) dir() string { return p.w.folder(p.c) }

// run makes the run, and interrupts it after most steps; with 0 it makes all.
func (p *played) run(most int, change func(*work)) (*results.Run, error) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	w := p.w
	if change != nil {
		change(&w)
	}
	p.steps = 0
	w.OnProgress = func(int, Progress) {
		if p.steps++; p.steps == most {
			cancel()
		}
	}
	return made(ctx, p.c, w)
}

// stop interrupts the run after some steps.
func (p *played) stop(after int, change func(*work)) {
	p.t.Helper()
	if _, err := p.run(after, change); !errors.Is(err, ErrInterrupted) {
		p.t.Fatalf("interrupted: %v", err)
	}
}

// end makes the run to its end.
func (p *played) end(change func(*work)) *results.Run {
	p.t.Helper()
	return must.Get(p.run(0, change))(p.t)
}

// refused has a run refused before its first step, with everything in the folder left as it is.
func (p *played) refused(want error, change func(*work)) {
	p.t.Helper()
	before := p.files()
	if _, err := p.run(0, change); !errors.Is(err, want) || p.steps > 0 {
		p.t.Errorf("%v after %d steps, want %q before the first", err, p.steps, want)
	}
	p.unchanged(before)
}

// files is the content of the folder, by path.
func (p *played) files() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(p.dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(p.dir(), path)
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return out
}

// unchanged wants the files that were there to be there still.
func (p *played) unchanged(before map[string]string) {
	p.t.Helper()
	now := p.files()
	for name, content := range before {
		if now[name] != content {
			p.t.Errorf("%s was changed or removed", name)
		}
	}
}

func recorded(w *work)  { w.Record = true }
func replacing(w *work) { w.Replace = true }

func arrays(n int) func(*work) { return func(w *work) { w.RecordArrays, w.Replace = n, true } }

// TestFinishedIsKept runs a finished run again.
func TestFinishedIsKept(t *testing.T) {
	p := newPlayed(t)
	first := p.end(nil)
	before := p.files()
	if len(before) != 2 {
		t.Errorf("the run left %d files, want result and scenario", len(before))
	}
	for _, change := range []func(*work){nil, replacing} {
		if r := p.end(change); r.ModelSHA256 != first.ModelSHA256 || p.steps != 0 {
			t.Errorf("made again: %d steps", p.steps)
		}
		p.unchanged(before)
	}
}

// TestUnfinishedGoesOn takes an interrupted run up, with records that it has begun whether they are
// asked for or not.
func TestUnfinishedGoesOn(t *testing.T) {
	p := newPlayed(t)
	whole := p.end(recorded)
	records := p.files()[results.RecordsFile]
	p.w.Dir = t.TempDir()
	p.stop(5, recorded)
	r := p.end(nil)
	switch {
	case r.ModelSHA256 != whole.ModelSHA256:
		t.Errorf("resumed, made %d of %d steps: r.ModelSHA256 is %q; want %q", p.steps, r.Steps,
			r.ModelSHA256, whole.ModelSHA256)
	case p.steps != r.Steps-5:
		t.Errorf("resumed, made %d of %d steps: p.steps is %d; want %d", p.steps, r.Steps, p.steps,
			r.Steps-5)
	case r.Measured.Resumed != 1:
		t.Errorf("resumed, made %d of %d steps: r.Measured.Resumed is %d; want 1", p.steps, r.Steps,
			r.Measured.Resumed)
	case p.files()[results.RecordsFile] != records:
		t.Errorf("resumed, made %d of %d steps: p.files()[results.RecordsFile] is %q; want %q",
			p.steps, r.Steps, p.files()[results.RecordsFile], records)
	}
}

// TestMadeAgainForItsFiles: a run that has not left what is asked for is replaced, finished or not,
// by one with the same model; and nothing that it left before stays.
func TestMadeAgainForItsFiles(t *testing.T) {
	for name, ask := range map[string]func(*work){
		results.RecordsFile: func(w *work) { recorded(w); w.Replace = true },
		weightsFile:         func(w *work) { w.Weights, w.Replace = true, true },
		arraysDir:           arrays(3),
	} {
		t.Run(name, func(t *testing.T) {
			for _, stop := range []bool{false, true} {
				p := newPlayed(t)
				want := p.end(nil)
				if stop {
					p.w.Dir = t.TempDir()
					p.stop(5, nil)
				}
				said := ""
				r := p.end(func(w *work) { ask(w); w.Log = func(s string) { said += s } })
				goesOn := stop && name == weightsFile // which a run leaves when it ends
				switch {
				case r.ModelSHA256 != want.ModelSHA256:
					t.Errorf("%s, interrupted before: r.ModelSHA256 is %q; want %q", name, r.ModelSHA256, want.ModelSHA256)
				case !exists(p.dir(), name):
					t.Errorf("%s, interrupted before: exists(p.dir(), name) is false", name)
				case (p.steps == r.Steps) == goesOn:
					t.Errorf("%s, interrupted before: (p.steps == r.Steps) and goesOn are both %t", name, (p.steps == r.Steps))
				case (said == "") != goesOn:
					t.Errorf("%s, interrupted before: %t: made %d steps of %d, said %q", name, stop, p.steps, r.Steps, said)
				}
				if p.end(ask); p.steps != 0 {
					t.Error("made once more")
				}
			}
		})
	}
}

// TestArraysOfAResumedRun: which steps' arrays are recorded can change until all of them are.
func TestArraysOfAResumedRun(t *testing.T) {
	p := newPlayed(t)
	p.stop(3, arrays(2))
	for n, goesOn := range map[int]bool{2: true, 1: true, 0: true, 6: false} {
		q := *p
		q.w.Dir = t.TempDir()
		must.Do(t, os.CopyFS(q.dir(), os.DirFS(p.dir())))
		if r := q.end(arrays(n)); (q.steps == r.Steps-3) != goesOn {
			t.Errorf("arrays of %d steps after those of 2: %d steps of %d are made", n, q.steps, r.Steps)
		}
	}
}

// TestMoreArraysOfAFinishedRun: a finished run stands for one with the arrays of as many steps, or
// of fewer.
func TestMoreArraysOfAFinishedRun(t *testing.T) {
	p := newPlayed(t)
	r := p.end(arrays(2))
	for _, n := range []int{2, 1, 0} {
		if p.end(arrays(n)); p.steps != 0 {
			t.Errorf("arrays of %d steps: made again, though those of 2 are there", n)
		}
	}
	if p.end(arrays(r.Steps + 5)); p.steps != r.Steps {
		t.Error("there are arrays of steps that were not recorded")
	}
	if p.end(arrays(r.Steps + 9)); p.steps != 0 {
		t.Error("made again, though the arrays of all steps are there")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)))
}

// TestKilledBeforeItsFirstCheckpoint: what such a run has left does not stay beside the result of
// the one that starts again.
func TestKilledBeforeItsFirstCheckpoint(t *testing.T) {
	p := newPlayed(t)
	write(t, filepath.Join(p.dir(), results.RecordsFile), "{}")
	write(t, filepath.Join(p.dir(), arraysDir, "step-000700.npz"), "")
	write(t, filepath.Join(p.dir(), ".result.json.5.tmp"), "")
	p.end(nil)
	if len(p.files()) != 2 {
		t.Error("what a run that was killed has left is beside the result of the next one")
	}
}

// TestForeignResult puts something else in the result's place.
func TestForeignResult(t *testing.T) {
	p := newPlayed(t)
	p.end(nil)
	path := filepath.Join(p.dir(), results.ResultFile)
	own := p.files()[results.ResultFile]
	for name, change := range map[string]func(r map[string]any){
		"its id is":            func(r map[string]any) { r["id"] = "0123456789ab" },
		"the file was altered": func(r map[string]any) { r["A"] = 99.9 },
		"its id is \"":         func(r map[string]any) { r["config"].(map[string]any)["batch"] = 9 },
		"batch (9, not": func(r map[string]any) {
			r["config"].(map[string]any)["batch"] = 9
			r["id"] = results.IDOf(must.Get(json.Marshal(r["config"]))(t))
		},
		"schema 2":       func(r map[string]any) { r["schema"] = 2 },
		"no tasks":       func(r map[string]any) { r["tasks"] = nil },
		"configuration ": func(r map[string]any) { r["config"] = nil },
	} {
		var fields map[string]any
		must.Do(t, json.Unmarshal([]byte(own), &fields))
		change(fields)
		data := must.Get(json.Marshal(fields))(t)
		write(t, path, string(data))
		p.refused(ErrForeign, recorded)
		_, err := p.w.Finished(Checked{config: p.c})
		expect.Refusal(t, "Finished", err, path, name)
	}
	write(t, path, own[:len(own)/2])
	p.refused(ErrForeign, nil)
	if r := p.end(replacing); p.steps != r.Steps {
		t.Errorf("replaced in %d steps", p.steps)
	}
}

// TestInUse has a run refused where another process works, before anything is changed.
func TestInUse(t *testing.T) {
	p := newPlayed(t)
	p.stop(4, nil)
	l := must.Get(takeLock(p.dir()))(t)
	p.refused(errHeld, nil)
	p.refused(errHeld, replacing)
	expect.Refusal(t, "Discard", p.w.Discard(Checked{config: p.c}), errHeld)
	must.Do(t, l.release())
	p.end(nil)
}

// TestFolderRemoved moves the folder of a run away, in whose place another process makes one of its
// own: the run ends with an error, not as one that was saved, and leaves the other's folder alone.
func TestFolderRemoved(t *testing.T) {
	p := newPlayed(t)
	var other *lock
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := p.w
	w.OnProgress = func(int, Progress) {
		if other != nil {
			return
		}
		if err := os.Rename(p.dir(), p.dir()+"-away"); err != nil {
			t.Skipf("this system does not let a folder in use be moved: %v", err)
		}
		var err error
		if other, err = takeLock(p.dir()); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	if _, err := made(ctx, p.c, w); !errors.Is(err, errUnsaved) || errors.Is(err, ErrInterrupted) {
		t.Errorf("a run that could not be saved ends with %v", expect.Text(err))
	}
	if saved, err := (series{dir: p.dir()}).list(); err != nil || len(saved) > 0 {
		t.Errorf("it wrote %v (%v) into the other's folder", saved, expect.Text(err))
	}
	if err := errors.Join(other.check(), other.release()); err != nil {
		t.Errorf("it took the other's lock away: %v", err)
	}
}

// TestParts begins a run on one backend and ends it on another: both are in the result.
func TestParts(t *testing.T) {
	p := newPlayed(t)
	switch r := p.end(nil); {
	case r.Measured.Parts != nil:
		t.Errorf("r.Measured.Parts is %v; want nil", r.Measured.Parts)
	case r.Measured.Backend != backend.Go:
		t.Errorf("r.Measured.Backend is %q; want %q", r.Measured.Backend, backend.Go)
	}
	p = newPlayed(t)
	first := p.w.Machine.backend
	other := &backend.Backend{Backend: first.Backend, Info: first.Info}
	other.Info.Name, other.Info.Threads = "other", 7
	p.stop(5, nil)
	p.stop(2, func(w *work) { w.Machine = on(t, other, p.w.Machine.set) })
	m := p.end(nil).Measured
	switch {
	case len(m.Parts) != 3:
		t.Errorf("len(m.Parts) is %d; want 3", len(m.Parts))
	case m.Parts[1].From != 5:
		t.Errorf("m.Parts[1].From is %d; want 5", m.Parts[1].From)
	case m.Parts[1].Backend != "other":
		t.Errorf("m.Parts[1].Backend is %q; want %q", m.Parts[1].Backend, "other")
	case m.Parts[1].Threads != 7:
		t.Errorf("m.Parts[1].Threads is %d; want 7", m.Parts[1].Threads)
	case m.Parts[2].From != 7:
		t.Errorf("m.Parts[2].From is %d; want 7", m.Parts[2].From)
	case m.Parts[2].Begun.IsZero():
		t.Error("m.Parts[2].Begun.IsZero() is true")
	}
	switch {
	case m.Parts[0].Backend != backend.Go:
		t.Errorf("m.Parts[0].Backend is %q; want %q", m.Parts[0].Backend, backend.Go)
	case m.Backend != backend.Go:
		t.Errorf("m.Backend is %q; want %q", m.Backend, backend.Go)
	}
}

// TestDiverged trains with steps that leave the range of numbers.
func TestDiverged(t *testing.T) {
	p := newPlayed(t)
	if r := p.end(nil); r.DivergedAt != nil || r.Skipped != 0 {
		t.Errorf("a good run diverged at %v", r.DivergedAt)
	}
	p = newPlayed(t)
	p.c.Optimizer.LR = 1e38
	skipped := 0
	w := p.w
	w.OnProgress = func(_ int, s Progress) {
		if skipped = s.Skipped; s.Step > 1 && (s.K != 0 || s.Loss == s.Loss) {
			t.Errorf("step %d has %d rows and the loss %g", s.Step, s.K, s.Loss)
		}
	}
	r := must.Get(made(t.Context(), p.c, w))(t)
	switch {
	case r.DivergedAt == nil:
		t.Error("r.DivergedAt is nil")
	case *r.DivergedAt != 1:
		t.Errorf("*r.DivergedAt is %d; want 1", *r.DivergedAt)
	case r.Skipped < r.Steps-1:
		t.Errorf("r.Skipped is %d; want at least %d", r.Skipped, r.Steps-1)
	case skipped != r.Skipped:
		t.Errorf("skipped is %d; want %d", skipped, r.Skipped)
	}
	if !strings.Contains(p.files()[results.ResultFile], `"diverged_at": 1`) {
		t.Error("the file does not say so")
	}
}

// TestTrouble counts what is left out, step by step.
func TestTrouble(t *testing.T) {
	var s divergence
	for _, c := range []struct {
		report pcl.StepReport
		want   divergence
		stuck  int
	}{
		{pcl.StepReport{Step: 0, IDs: []int{1}}, divergence{}, -1},
		{pcl.StepReport{Step: 1, IDs: []int{0}, Skipped: []int{1}}, divergence{Skipped: 1}, -1},
		{pcl.StepReport{Step: 2, IDs: []int{0, 1}, Rejected: true}, divergence{Skipped: 3, Rejected: 1}, 2},
		{pcl.StepReport{Step: 3, Skipped: []int{0, 1}}, divergence{Skipped: 5, Rejected: 1}, 2},
		{pcl.StepReport{Step: 4, IDs: []int{1}}, divergence{Skipped: 5, Rejected: 1}, -1},
		{pcl.StepReport{Step: 5}, divergence{Skipped: 5, Rejected: 1}, -1}, // a method that sits steps out
		{pcl.StepReport{Step: 6, Skipped: []int{1}}, divergence{Skipped: 6, Rejected: 1}, 6},
	} {
		s.observe(&c.report)
		at := s.divergedAt(9, nil)
		switch {
		case s.Skipped != c.want.Skipped:
			t.Errorf("after step %d: s.Skipped is %d; want %d", c.report.Step, s.Skipped, c.want.Skipped)
		case s.Rejected != c.want.Rejected:
			t.Errorf("after step %d: s.Rejected is %d; want %d", c.report.Step, s.Rejected, c.want.Rejected)
		case (at == nil) != (c.stuck < 0):
			t.Errorf("after step %d: (at == nil) is %t; want %t", c.report.Step, (at == nil), (c.stuck < 0))
		case at != nil && *at != c.stuck:
			t.Errorf("after step %d: %+v, diverged at %v, want %+v, %d", c.report.Step, s, at, c.want, c.stuck)
		}
	}
	s.Stuck = nil
	zero := float32(0)
	if at := s.divergedAt(9, []float32{1, 1 / zero}); at == nil || *at != 8 {
		t.Errorf("infinite parameters at the end: diverged at %v, want 8", at)
	}
}

// TestDiscard removes what a run left in a folder, and nothing else, so that it is made from its
// beginning.
func TestDiscard(t *testing.T) {
	p := newPlayed(t)
	p.w.Attempts = 3
	p.stop(2, func(w *work) { w.Record, w.CheckpointEvery = true, 1 })
	write(t, filepath.Join(p.dir(), "mine.txt"), "")
	must.Do(t, p.w.Discard(Checked{config: p.c}))
	if left := p.files(); len(left) != 1 {
		t.Errorf("%v is left, want only mine.txt", left)
	}
	if r := p.end(nil); p.steps != r.Steps {
		t.Errorf("made %d steps of %d", p.steps, r.Steps)
	}
}
