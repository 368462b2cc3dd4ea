package grid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// tiny is a grid of real runs, of a few steps each.
func tiny(t testing.TB, seeds int, more string) *Grid {
	list := make([]string, seeds)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return parse(t, "tiny", `
		title = "Real runs"
		datasets = ["G"]
		methods = ["AvgGrad"]
		increments = ["task"]
		labelsets = [0]
		timelines = [0]
		seeds = [`+strings.Join(list, ",")+`]
		[set]
		train_per_class = 4
		test_per_class = 1
		batch = 8
		hidden = [4]
		[dataset.G]
		dataset = "glyphs"
		[method.AvgGrad]
		method = "avggrad"
		`+more)
}

// work makes the runs of a grid, and returns its status, what was said, and the error.
func work(t testing.TB, p *Grid, store experiment.Store, schedule experiment.Schedule) (*Status, string, error) {
	t.Helper()
	var said []string
	store.Attempts, schedule.Log = 3, func(s string) { said = append(said, s) }
	err := p.Work(t.Context(), store, schedule)
	r, e := p.Results(store.Dir)
	if e != nil {
		t.Fatal(e)
	}
	return r.Status(experiment.Shard{}), strings.Join(said, "\n"), err
}

// TestShards: shards have each run once, and a run stays in its shard when others are added.
func TestShards(t *testing.T) {
	more, few := expanded(t, small(t, 40)), expanded(t, small(t, 20))
	counts := make([]int, 3)
	for _, c := range more.Runs {
		for i := range counts {
			if (experiment.Shard{I: i, N: 3}).Has(c.Config()) {
				counts[i]++
			}
		}
	}
	if counts[0]+counts[1]+counts[2] != len(more.Runs) || slices.Min(counts) < len(more.Runs)/5 {
		t.Errorf("shards of %v of %d runs", counts, len(more.Runs))
	}
	for _, c := range few.Runs {
		if s := (experiment.Shard{I: 1, N: 3}); s.Has(c.Config()) != slices.ContainsFunc(more.Runs,
			func(o experiment.Checked) bool {
				return o.ID() == c.ID() && s.Has(o.Config())
			}) {
			t.Errorf("%s is in another shard among fewer runs", c.ID())
		}
	}
}

// TestFailures: a run that cannot be made fails once, the others are made, and only after a retry
// is it tried again.
func TestFailures(t *testing.T) {
	p := expanded(t,
		tiny(t, 1,
			"\n[size.full]\nmethods = [\"Bad\", \"AvgGrad\"]\n[method.Bad]\nmethod = \"avggrad\"\nmemory = { policy = \"fixed_total\", budget = 10 }\n"))
	store, schedule := experiment.Store{Dir: t.TempDir()}, experiment.Schedule{Machine: goMachine}
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			s, said, err := work(t, p, store, schedule)
			switch {
			case err != nil:
				t.Fatalf("%v, said %s", err, said)
			case s.Done != 1:
				t.Fatalf("again %t: s.Done is %d; want 1", again, s.Done)
			case s.Failed != 1:
				t.Fatalf("again %t: s.Failed is %d; want 1", again, s.Failed)
			case s.Left != 0:
				t.Fatalf("again %t: s.Left is %d; want 0", again, s.Left)
			case !strings.Contains(s.Failures[0].Reason, "cannot hold the 62 classes"):
				t.Fatalf("again %t: s.Failures[0].Reason is %q; want %q in it", again, s.Failures[0].Reason,
					"cannot hold the 62 classes")
			case !strings.HasPrefix(s.Failures[0].Place, "Bad, G, task"):
				t.Fatalf("again %t: s.Failures[0].Place is %q; want %q at its beginning", again, s.Failures[0].Place,
					"Bad, G, task")
			}
		})
	}
	begun := 0
	store.Replace, schedule.OnBegin = true, func(int, experiment.Config) { begun++ }
	switch s, _, err := work(t, p, store, schedule); {
	case err != nil:
		t.Error(err)
	case begun != 1:
		t.Errorf("begun is %d; want 1", begun)
	case s.Failed != 1:
		t.Errorf("s.Failed is %d; want 1", s.Failed)
	}
}

// TestDeaths: a run at which three processes in a row died has failed, unless they made progress.
func TestDeaths(t *testing.T) {
	p := expanded(t, tiny(t, 1, ""))
	for deaths, failed := range map[int]int{1: 0, 2: 1} {
		t.Run(fmt.Sprint(deaths), func(t *testing.T) {
			store, schedule := experiment.Store{Dir: t.TempDir()}, experiment.Schedule{Machine: goMachine}
			own := filepath.Join(store.Dir, p.Runs[0].Folder())
			note := fmt.Sprintf(`{"pid": 1, "begun": "2026-01-02T03:04:05Z", "deaths": %d}`, deaths)
			put(t, filepath.Join(own, "work.json"), note)
			switch s, said, err := work(t, p, store, schedule); {
			case err != nil:
				t.Errorf("after %d deaths and one more: %v, said %s", deaths, err, said)
			case s.Failed != failed:
				t.Errorf("after %d deaths and one more: s.Failed is %d; want %d", deaths, s.Failed, failed)
			case s.Done != 1-failed:
				t.Errorf("after %d deaths and one more: s.Done is %d; want %d", deaths, s.Done, 1-failed)
			}
		})
	}
}

// TestInterrupted interrupts a run and damages the newest, or every, checkpoint afterwards. It
// ends with the result of an undisturbed one, and other files in its folder stay.
func TestInterrupted(t *testing.T) {
	p := expanded(t, tiny(t, 1, ""))
	m := goMachine
	finish := func(dir string) (model, said string) {
		s, said, err := work(t, p, experiment.Store{Dir: dir}, experiment.Schedule{Machine: m})
		switch {
		case err != nil:
			t.Fatalf("%v, said %s", err, said)
		case s.Done != 1:
			t.Fatalf("s.Done is %d; want 1", s.Done)
		}
		r := must.Get(p.Results(dir))(t)
		return finishedRuns(r)[0].ModelSHA256, said
	}
	want, _ := finish(t.TempDir())
	for _, c := range []struct {
		damaged int // how many of the newest checkpoints
		say     string
	}{{0, ""}, {1, "damaged checkpoint"}, {2, "damaged checkpoint"}} {
		dir := t.TempDir()
		own := filepath.Join(dir, p.Runs[0].Folder())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store := experiment.Store{Dir: dir, Attempts: 3, CheckpointEvery: 2}
		err := p.Work(ctx, store, experiment.Schedule{Machine: m, OnProgress: func(_ int, s experiment.Progress) {
			if s.Step == 7 {
				cancel()
			}
		}})
		saved, _ := filepath.Glob(filepath.Join(own, "checkpoint-*.pcl"))
		if !errors.Is(err, experiment.ErrInterrupted) || len(saved) != 2 {
			t.Fatalf("%v; saved %v", expect.Text(err), saved)
		}
		switch r, err := p.Results(dir); {
		case err != nil:
			t.Fatal(err)
		case r.Status(experiment.Shard{}).Saved != 1:
			t.Fatalf("%+v, %v", r.Status(experiment.Shard{}), err)
		}
		slices.Reverse(saved)
		for _, path := range saved[:c.damaged] {
			must.Do(t, os.Truncate(path, 100))
		}
		mine := filepath.Join(own, "note.txt")
		must.Do(t, os.WriteFile(mine, nil, 0o666))
		model, said := finish(dir)
		switch _, err := os.Stat(mine); {
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		case model != want:
			t.Errorf("%+v: model is %q; want %q", c, model, want)
		case !strings.Contains(said, c.say):
			t.Errorf("%+v: said is %q; want %q in it", c, said, c.say)
		case (said == "") != (c.say == ""):
			t.Errorf("%+v: model %s, want %s; said %q; %v", c, model, want, said, err)
		}
	}
}

// TestUntidy: a run with a result is finished, also if a file that it needs no more could not be
// removed.
func TestUntidy(t *testing.T) {
	p, dir := expanded(t, tiny(t, 1, "")), t.TempDir()
	store, schedule := experiment.Store{Dir: dir},
		experiment.Schedule{Machine: goMachine, OnProgress: func(_ int, s experiment.Progress) {
			if s.Step == s.Steps {
				os.MkdirAll(filepath.Join(dir, p.Runs[0].Folder(), "checkpoint-000000001.pcl", "full"), 0o777)
			}
		}}
	switch s, said, err := work(t, p, store, schedule); {
	case err != nil:
		t.Error(err)
	case s.Done != 1:
		t.Errorf("s.Done is %d; want 1", s.Done)
	case !strings.Contains(said, "is finished, but"):
		t.Errorf("said is %q; want %q in it", said, "is finished, but")
	}
}

// TestTimeUp: when the time is up, runs are left.
func TestTimeUp(t *testing.T) {
	p := expanded(t, tiny(t, 2, ""))
	store, schedule := experiment.Store{Dir: t.TempDir()}, experiment.Schedule{Machine: goMachine, Until: time.Now()}
	switch s, _, err := work(t, p, store, schedule); {
	case !errors.Is(err, experiment.ErrTimeUp):
		t.Errorf("%s; want experiment.ErrTimeUp", expect.Text(err))
	case s.Left != 2:
		t.Errorf("s.Left is %d; want 2", s.Left)
	}
}

// TestElsewhere has what a machine may lack: that is no failure of a run.
func TestElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		more string
		open func(context.Context) (*backend.Backend, error)
	}{
		"data":    {"\n[size.full]\ndataset.G.dataset = \"cifar-100\"\nset.model = \"resnet18\"\nset.hidden = []\n", openGo},
		"backend": {"", func(context.Context) (*backend.Backend, error) { return nil, errors.New("it is broken") }},
	} {
		t.Run(name, func(t *testing.T) {
			store, schedule := experiment.Store{Dir: t.TempDir()},
				experiment.Schedule{Machine: &experiment.Machine{DataDir: t.TempDir(), Open: c.open}}
			switch s, _, err := work(t, expanded(t, tiny(t, 2, c.more)), store, schedule); {
			case err == nil:
				t.Error("no error")
			case s.Failed != 0:
				t.Errorf("s.Failed is %d; want 0", s.Failed)
			case s.Left != 2:
				t.Errorf("s.Left is %d; want 2", s.Left)
			}
		})
	}
}

// TestTrainedNetwork: runs begin with a trained network; without its file they cannot be made,
// which is no failure.
func TestTrainedNetwork(t *testing.T) {
	m, dir, first := goMachine, t.TempDir(), expanded(t, tiny(t, 1, "")).Runs
	store, schedule := experiment.Store{Dir: dir, Weights: true}, experiment.Schedule{Machine: m}
	for _, err := range experiment.Each(t.Context(), first, store, schedule) {
		must.Do(t, err)
	}
	net := filepath.Join(dir, first[0].Folder(), "weights.safetensors")
	g := tiny(t, 1, "")
	g.Set["init"] = net
	p := expanded(t, g)
	store, schedule = experiment.Store{Dir: t.TempDir()}, experiment.Schedule{Machine: m}
	must.Do(t, os.Rename(net, net+".moved"))
	switch s, _, err := work(t, p, store, schedule); {
	case !errors.Is(err, experiment.ErrData):
		t.Errorf("without the file: %s; want experiment.ErrData", expect.Text(err))
	case s.Failed != 0:
		t.Errorf("without the file: s.Failed is %d; want 0", s.Failed)
	case s.Left != 1:
		t.Errorf("without the file: s.Left is %d; want 1", s.Left)
	}
	must.Do(t, os.Rename(net+".moved", net))
	switch s, _, err := work(t, p, store, schedule); {
	case err != nil:
		t.Error(err)
	case s.Done != 1:
		t.Errorf("s.Done is %d; want 1", s.Done)
	}
}

// TestOldFolder: what earlier programs left is refused, and stays.
func TestOldFolder(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "manifests", "tiny-full.json")
	put(t, old, "")
	p := expanded(t, tiny(t, 1, ""))
	if err := p.Work(t.Context(), experiment.Store{Dir: dir}, experiment.Schedule{Machine: goMachine}); err == nil {
		t.Error("worked in it")
	}
	if _, err := p.Results(dir); err == nil {
		t.Error("read it")
	}
	if _, err := os.Stat(old); err != nil {
		t.Error(err)
	}
}
