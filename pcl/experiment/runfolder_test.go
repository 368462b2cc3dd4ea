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

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/folder"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// played is a configuration that is run in one folder again and again.
type played struct {
	t     *testing.T
	c     Config
	o     RunOptions
	steps int // made by the last run
}

func newPlayed(t *testing.T) *played {
	b := pcltest.Backend(t, backend.Go)
	p := &played{t: t, c: blobConfig("avggrad")}
	p.o = RunOptions{Backend: b, Dataset: pcltest.Blobs(8, 40, 10), Programs: pcl.NewPrograms(b), Dir: filepath.Join(t.TempDir(), "run")}
	t.Cleanup(p.o.Programs.Close)
	return p
}

// run makes the run, or as many of its steps.
func (p *played) run(most int, change func(*RunOptions)) (*results.Run, error) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	o := p.o
	if change != nil {
		change(&o)
	}
	p.steps = 0
	o.Progress = func(Progress) {
		if p.steps++; p.steps == most {
			cancel()
		}
	}
	return Run(ctx, p.c, o)
}

// stop interrupts the run after some steps.
func (p *played) stop(after int, change func(*RunOptions)) {
	p.t.Helper()
	if _, err := p.run(after, change); !errors.Is(err, ErrInterrupted) {
		p.t.Fatalf("interrupted: %v", err)
	}
}

// end makes the run to its end.
func (p *played) end(change func(*RunOptions)) *results.Run {
	p.t.Helper()
	r, err := p.run(0, change)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// refused has a run refused before its first step, with everything in the folder left as it is.
func (p *played) refused(want error, change func(*RunOptions)) {
	p.t.Helper()
	before := p.files()
	if _, err := p.run(0, change); !errors.Is(err, want) || p.steps > 0 {
		p.t.Errorf("%v after %d steps, want %q before the first", err, p.steps, want)
	}
	o := p.o
	if change != nil {
		change(&o)
	}
	if _, err := Ready(checked(p.c), o); !errors.Is(err, want) {
		p.t.Errorf("Ready says %v, want %q", err, want)
	}
	p.unchanged(before)
}

// files is the content of the folder, by path.
func (p *played) files() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(p.o.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(p.o.Dir, path)
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

func recorded(o *RunOptions) { o.Record = true }
func resuming(o *RunOptions) { o.Resume = true }

// replacing makes a recorded run anew; resumeReplacing goes on with that.
func replacing(o *RunOptions)       { o.Replace, o.Record = true, true }
func resumeReplacing(o *RunOptions) { o.Resume, o.Replace, o.Record = true, true, true }

// TestFinishedIsKept runs a finished run again, with and without Resume.
func TestFinishedIsKept(t *testing.T) {
	p := newPlayed(t)
	first := p.end(nil)
	before := p.files()
	if len(before) != 2 {
		t.Errorf("the run left %d files, want result and scenario", len(before))
	}
	for _, change := range []func(*RunOptions){nil, resuming} {
		if r := p.end(change); r.ModelSHA256 != first.ModelSHA256 || p.steps != 0 {
			t.Errorf("made again: %d steps", p.steps)
		}
		p.unchanged(before)
	}
	p.refused(ErrUnrecorded, recorded)
	p.refused(ErrUnrecorded, func(o *RunOptions) { o.RecordArrays = 1 })
}

// TestUnfinishedIsKept begins an interrupted run again.
func TestUnfinishedIsKept(t *testing.T) {
	p := newPlayed(t)
	p.stop(5, nil)
	p.refused(ErrUnfinished, nil)
	if _, err := p.run(0, nil); err == nil {
		t.Errorf("the error does not say how far the run is: %v", err)
	}
	if _, err := p.run(0, func(o *RunOptions) { o.Resume, o.Record = true, true }); err == nil {
		t.Error("records began in the middle of a run")
	}
	whole := newPlayed(t).end(nil)
	if r := p.end(resuming); r.ModelSHA256 != whole.ModelSHA256 || p.steps != r.Steps-5 {
		t.Errorf("resumed with %d of %d steps, the model is the same: %t", p.steps, r.Steps, r.ModelSHA256 == whole.ModelSHA256)
	}
}

// TestReplace makes a finished run anew, interrupted on the way, and then without records: nothing of the old one is left.
func TestReplace(t *testing.T) {
	p := newPlayed(t)
	first := p.end(recorded)
	records := p.files()[RecordFile]
	p.stop(4, replacing)
	if files := p.files(); files[ResultFile] != "" {
		t.Error("the old result stands beside the new run's checkpoint")
	}
	p.stop(3, resumeReplacing)
	r := p.end(resumeReplacing)
	if r.ModelSHA256 != first.ModelSHA256 || r.Measured.Resumed != 2 || p.steps != r.Steps-7 {
		t.Errorf("made anew with %d resumptions, the last part of %d steps", r.Measured.Resumed, p.steps)
	}
	if after := p.files(); len(after) != 3 || after[RecordFile] != records {
		t.Errorf("%d files are left, want a new result with the same records", len(after))
	}
	p.end(func(o *RunOptions) { o.Replace = true })
	if after := p.files(); len(after) != 2 {
		t.Errorf("made anew without records, the old ones are left")
	}
}

// TestReplaceUnfinished makes an unfinished run anew: no checkpoint of the old one is gone on from.
func TestReplaceUnfinished(t *testing.T) {
	p := newPlayed(t)
	p.stop(5, nil)
	p.stop(3, func(o *RunOptions) { o.Replace = true })
	r := p.end(func(o *RunOptions) { o.Replace, o.Resume = true, true })
	if r.Measured.Resumed != 1 || p.steps != r.Steps-3 || len(p.files()) != 2 {
		t.Errorf("after %d steps of %d the files are %d", p.steps, r.Steps, len(p.files()))
	}
}

// TestArraysOfAResumedRun: which steps' arrays are recorded cannot change before all of them are.
func TestArraysOfAResumedRun(t *testing.T) {
	p := newPlayed(t)
	arrays := func(n int) func(*RunOptions) { return func(o *RunOptions) { o.Resume, o.RecordArrays = true, n } }
	p.stop(3, arrays(2))
	for n, goesOn := range map[int]bool{2: true, 1: true, 0: true, 6: false} {
		q := *p
		q.o.Dir = filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(q.o.Dir, os.DirFS(p.o.Dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := q.run(1, arrays(n)); err == nil || errors.Is(err, ErrInterrupted) != goesOn {
			t.Errorf("arrays of %d steps after those of 2: %v", n, err)
		}
	}
}

// TestMoreArraysOfAFinishedRun: a finished run stands for one with the arrays of as many steps, or of fewer.
func TestMoreArraysOfAFinishedRun(t *testing.T) {
	p := newPlayed(t)
	arrays := func(n int) func(*RunOptions) { return func(o *RunOptions) { o.RecordArrays = n } }
	r := p.end(arrays(2))
	for _, n := range []int{2, 1, 0} {
		if p.end(arrays(n)); p.steps != 0 {
			t.Errorf("arrays of %d steps: made again, though those of 2 are there", n)
		}
	}
	p.refused(ErrUnrecorded, arrays(3))
	all := p.end(func(o *RunOptions) { o.Replace, o.RecordArrays = true, r.Steps+5 })
	if p.end(arrays(r.Steps + 9)); p.steps != 0 || all.Steps != r.Steps {
		t.Error("made again, though the arrays of all steps are there")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestKilledBeforeItsFirstCheckpoint: what such a run has left does not stay beside the result of the one that starts
// again, whichever way that is told to.
func TestKilledBeforeItsFirstCheckpoint(t *testing.T) {
	for _, replace := range []bool{false, true} {
		p := newPlayed(t)
		write(t, filepath.Join(p.o.Dir, RecordFile), "{}")
		write(t, filepath.Join(p.o.Dir, arraysDir, "step-000700.npz"), "")
		if _, err := p.run(0, func(o *RunOptions) { o.Resume, o.Replace = true, replace }); err != nil {
			t.Fatal(err)
		}
		if exists(p.o.Dir, RecordFile) || exists(p.o.Dir, arraysDir) {
			t.Errorf("records or arrays of a run that was killed are beside the result of the next one (Replace = %t)", replace)
		}
	}
}

// TestForeignResult puts something else in the result's place.
func TestForeignResult(t *testing.T) {
	p := newPlayed(t)
	p.end(nil)
	path := filepath.Join(p.o.Dir, ResultFile)
	own := p.files()[ResultFile]
	for name, change := range map[string]func(r map[string]any){
		"its id is":            func(r map[string]any) { r["id"] = "0123456789ab" },
		"the file was altered": func(r map[string]any) { r["A"] = 99.9 },
		"batch (9, not":        func(r map[string]any) { r["config"].(map[string]any)["batch"] = 9 },
		"schema 2":             func(r map[string]any) { r["schema"] = 2 },
		"no tasks":             func(r map[string]any) { r["tasks"] = nil },
		"configuration ":       func(r map[string]any) { r["config"] = nil },
	} {
		var fields map[string]any
		if err := json.Unmarshal([]byte(own), &fields); err != nil {
			t.Fatal(err)
		}
		change(fields)
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(data))
		p.refused(ErrForeign, nil)
		p.refused(ErrForeign, resuming)
		if _, err := Finished(p.o.Dir, p.c); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with the file and %q: %v", name, err)
		}
	}
	write(t, path, own[:len(own)/2])
	p.refused(ErrForeign, resuming)
	if r := p.end(func(o *RunOptions) { o.Replace = true }); p.steps != r.Steps {
		t.Errorf("replaced in %d steps", p.steps)
	}
}

// TestInUse has a run refused where another process works, before anything is changed.
func TestInUse(t *testing.T) {
	p := newPlayed(t)
	p.stop(4, nil)
	l, err := folder.Take(p.o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*RunOptions){nil, resuming, func(o *RunOptions) { o.Replace = true }} {
		p.refused(ErrInUse, change)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	p.end(resuming)
}

// TestFolderRemoved moves the folder of a run away, in whose place another process makes one of its own: the
// run ends with an error, not as one that was saved, and leaves the other's folder alone.
func TestFolderRemoved(t *testing.T) {
	p := newPlayed(t)
	var other *folder.Lock
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := p.o
	o.Progress = func(Progress) {
		if other != nil {
			return
		}
		if err := os.Rename(o.Dir, o.Dir+"-away"); err != nil {
			t.Skipf("this system does not let a folder in use be moved: %v", err)
		}
		var err error
		if other, err = folder.Take(o.Dir); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	_, err := Run(ctx, p.c, o)
	var unsaved *UnsavedError
	if !errors.As(err, &unsaved) || errors.Is(err, ErrInterrupted) {
		t.Errorf("a run that could not be saved ends with %v", err)
	}
	if saved, err := (checkpoint.Series{Dir: o.Dir}).List(); err != nil || len(saved) > 0 {
		t.Errorf("it wrote %v (%v) into the other's folder", saved, err)
	}
	if err := errors.Join(other.Check(), other.Release()); err != nil {
		t.Errorf("it took the other's lock away: %v", err)
	}
}

// TestParts begins a run on one backend and ends it on another: both are in the result.
func TestParts(t *testing.T) {
	p := newPlayed(t)
	if r := p.end(nil); r.Measured.Parts != nil || r.Measured.Backend != backend.Go || len(r.Measured.Makers()) != 1 {
		t.Errorf("a run of one part has %+v", r.Measured)
	}
	p = newPlayed(t)
	other := &backend.Backend{Backend: p.o.Backend.Backend, Info: p.o.Backend.Info}
	other.Info.Name, other.Info.Threads = "other", 7
	p.stop(5, nil)
	p.stop(2, func(o *RunOptions) { o.Resume, o.Backend = true, other })
	m := p.end(resuming).Measured
	if len(m.Parts) != 3 || m.Parts[1].From != 5 || m.Parts[1].Backend != "other" || m.Parts[1].Threads != 7 || m.Parts[2].From != 7 || m.Parts[2].Begun.IsZero() {
		t.Errorf("the parts are %+v, from steps %d, %d, the last begun %v", m.Parts, m.Parts[1].From, m.Parts[2].From, m.Parts[2].Begun)
	}
	if makers := m.Makers(); len(makers) != 2 || makers[0].Backend != backend.Go || makers[1].Backend != "other" || m.Backend != backend.Go {
		t.Errorf("made with %+v, at last with %s", makers, m.Backend)
	}
}

// TestOptionsOfARun refuses what makes no sense.
func TestOptionsOfARun(t *testing.T) {
	p := newPlayed(t)
	for _, change := range []func(*RunOptions){
		func(o *RunOptions) { o.Keep = -1 },
		func(o *RunOptions) { o.CheckpointEvery = -1 },
		func(o *RunOptions) { o.RecordArrays = -1 },
		func(o *RunOptions) { o.Checkpoint, o.Replace = "file", true },
		func(o *RunOptions) { o.Dir, o.Replace = "", true },
	} {
		if _, err := p.run(0, change); err == nil || len(p.files()) > 0 {
			t.Errorf("passed, or left files: %v", err)
		}
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
	o := p.o
	o.Progress = func(s Progress) {
		if skipped = s.Skipped; s.Step > 1 && (s.K != 0 || s.Loss == s.Loss) {
			t.Errorf("step %d has %d rows and the loss %g", s.Step, s.K, s.Loss)
		}
	}
	r, err := Run(t.Context(), p.c, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.DivergedAt == nil || *r.DivergedAt != 1 || r.Skipped < r.Steps-1 || skipped != r.Skipped {
		t.Errorf("diverged at %v with %d rows skipped, %d of them shown", r.DivergedAt, r.Skipped, skipped)
	}
	if !strings.Contains(p.files()[ResultFile], `"diverged_at": 1`) {
		t.Error("the file does not say so")
	}
}

// TestTrouble counts what is left out, step by step.
func TestTrouble(t *testing.T) {
	var s trouble
	for _, c := range []struct {
		report pcl.StepReport
		want   trouble
		stuck  int
	}{
		{pcl.StepReport{Step: 0, IDs: []int{1}}, trouble{}, -1},
		{pcl.StepReport{Step: 1, IDs: []int{0}, Skipped: []int{1}}, trouble{Skipped: 1}, -1},
		{pcl.StepReport{Step: 2, IDs: []int{0, 1}, Rejected: true}, trouble{Skipped: 3, Rejected: 1}, 2},
		{pcl.StepReport{Step: 3, Skipped: []int{0, 1}}, trouble{Skipped: 5, Rejected: 1}, 2},
		{pcl.StepReport{Step: 4, IDs: []int{1}}, trouble{Skipped: 5, Rejected: 1}, -1},
		{pcl.StepReport{Step: 5}, trouble{Skipped: 5, Rejected: 1}, -1}, // a method that sits steps out
		{pcl.StepReport{Step: 6, Skipped: []int{1}}, trouble{Skipped: 6, Rejected: 1}, 6},
	} {
		s.observe(&c.report)
		at := s.divergedAt(9, nil)
		if s.Skipped != c.want.Skipped || s.Rejected != c.want.Rejected || (at == nil) != (c.stuck < 0) || at != nil && *at != c.stuck {
			t.Errorf("after step %d: %+v, diverged at %v, want %+v, %d", c.report.Step, s, at, c.want, c.stuck)
		}
	}
	s.Stuck = nil
	zero := float32(0)
	if at := s.divergedAt(9, []float32{1, 1 / zero}); at == nil || *at != 8 {
		t.Errorf("infinite parameters at the end: diverged at %v, want 8", at)
	}
}

// TestDiscard removes what a run left in a folder, and nothing else.
func TestDiscard(t *testing.T) {
	p := newPlayed(t)
	p.stop(2, func(o *RunOptions) { o.Record, o.CheckpointEvery = true, 1 })
	note := filepath.Join(p.o.Dir, "note.txt")
	if err := os.WriteFile(note, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := discard(p.o.Dir); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(p.o.Dir, "*")); err != nil || len(left) != 1 || left[0] != note {
		t.Errorf("%v is left (%v), want only %s", left, err, note)
	}
}
