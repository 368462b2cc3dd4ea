package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// fourSaved saves steps 4, 8, 12 and 16 and keeps the last three.
func fourSaved(t *testing.T) (series, []string) {
	t.Helper()
	s := series{dir: filepath.Join(t.TempDir(), "run"), keep: 3}
	for _, step := range []int{4, 8, 12, 16} {
		must.Do(t, s.save(step, pcl.State{Arrays: map[string][]float32{"step": {float32(step)}}}))
	}
	paths := must.Get(s.list())(t)
	return s, paths
}

func damage(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.Truncate(path, 60))
}

func TestSeriesKeepsTheLast(t *testing.T) {
	s, paths := fourSaved(t)
	if len(paths) != 3 {
		t.Fatalf("kept %v, want three", paths)
	}
	f, path, damaged, err := s.latest()
	switch {
	case err != nil:
		t.Error(err)
	case damaged != nil:
		t.Error(damaged)
	case path != paths[2]:
		t.Errorf("path is %q; want %q", path, paths[2])
	case f.Arrays["step"][0] != 16:
		t.Errorf("the latest is %s, step %v (%v)", path, f.Arrays["step"], err)
	}
}

// TestLatestIsWhole damages the newest checkpoint, then also those before it.
func TestLatestIsWhole(t *testing.T) {
	s, paths := fourSaved(t)
	for i := len(paths) - 1; i >= 0; i-- {
		damage(t, paths[i])
		want := ""
		if i > 0 {
			want = paths[i-1]
		}
		f, path, damaged, err := s.latest()
		switch {
		case err != nil:
			t.Error(err)
		case path != want:
			t.Errorf("path is %q; want %q", path, want)
		case (want != "") != (f.Arrays["step"] != nil):
			t.Errorf("the latest is %q, %v; want %q", path, err, want)
		}
		expect.Refusal(t, "the damaged checkpoint", damaged, pcl.ErrDamaged, paths[len(paths)-1])
	}
}

// TestSeriesFromAnEarlierCheckpoint goes on from step 8 of a series that ends at 16: the next
// checkpoint must neither be removed as the oldest nor come second to the ones that were left.
func TestSeriesFromAnEarlierCheckpoint(t *testing.T) {
	s, _ := fourSaved(t)
	must.Do(t, s.save(10, pcl.State{}))
	paths, err := s.list()
	switch {
	case err != nil:
		t.Error(err)
	case len(paths) != 2:
		t.Errorf("len(paths) is %d; want 2", len(paths))
	case stepOf(paths[0]) != 8, stepOf(paths[1]) != 10:
		t.Errorf("left %v (%v), want those of steps 8 and 10", paths, err)
	}
}

func TestSeriesLeavesOtherFiles(t *testing.T) {
	s, _ := fourSaved(t)
	other := []string{"checkpoint-best.pcl", "checkpoint-000000016_good.pcl", "result.json"}
	for _, name := range other {
		must.Do(t, os.WriteFile(filepath.Join(s.dir, name), nil, 0o644))
	}
	if _, _, _, err := s.latest(); err != nil {
		t.Errorf("beside other files: %v", err)
	}
	must.Do(t, s.clear())
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) != len(other) {
		t.Errorf("%v are left (%v), want %v", left, expect.Text(err), other)
	}
	switch _, path, damaged, err := s.latest(); {
	case path != "":
		t.Errorf("without checkpoints: path is %q; want %q", path, "")
	case damaged != nil:
		t.Errorf("without checkpoints: %v", damaged)
	case err != nil:
		t.Errorf("without checkpoints: %v", err)
	}
	if err := (series{dir: filepath.Join(s.dir, "none")}).clear(); err != nil {
		t.Errorf("clearing a folder that is not there: %v", err)
	}
}

// TestSeriesBesideCopies: a file that a user has made beside the checkpoints is none of them,
// whatever number its name has.
func TestSeriesBesideCopies(t *testing.T) {
	s := series{dir: t.TempDir(), keep: 2}
	for _, step := range []int{5, 10} {
		must.Do(t, s.save(step, pcl.State{JSON: json.RawMessage(fmt.Sprint(step))}))
	}
	older := filepath.Join(s.dir, "checkpoint-000000005 copy 2.pcl")
	must.Do(t, os.Link(filepath.Join(s.dir, "checkpoint-000000005.pcl"), older))
	if f, path, _, err := s.latest(); err != nil || string(f.JSON) != "10" {
		t.Errorf("the newest is %s, of step %s, %v", path, f.JSON, expect.Text(err))
	}
	must.Do(t, errors.Join(s.save(15, pcl.State{JSON: json.RawMessage("15")}), s.clear()))
	if _, err := os.Stat(older); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(s.dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, expect.Text(err))
	}
}

// TestSeriesOfManySteps: a step whose number has more digits than the names have room for is later,
// too.
func TestSeriesOfManySteps(t *testing.T) {
	s := series{dir: t.TempDir(), keep: 2}
	for _, step := range []int{999_999_998, 999_999_999, 1_000_000_000} {
		must.Do(t, s.save(step, pcl.State{JSON: []byte("{}")}))
	}
	if _, newest, _, err := s.latest(); err != nil || stepOf(newest) != 1_000_000_000 {
		t.Errorf("the newest is %s, %v", newest, expect.Text(err))
	}
	switch paths, err := s.list(); {
	case err != nil:
		t.Error(err)
	case len(paths) != 2:
		t.Errorf("len(paths) is %d; want 2", len(paths))
	case stepOf(paths[0]) != 999_999_999:
		t.Errorf("kept %v, %v", paths, err)
	}
}

func TestSeriesKeepsAtLeastOne(t *testing.T) {
	for _, keep := range []int{0, -1} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			s := series{dir: t.TempDir(), keep: keep}
			for step := range 3 {
				must.Do(t, s.save(step, pcl.State{}))
			}
			if paths, err := s.list(); err != nil || len(paths) != 1 {
				t.Errorf("Keep %d left %v (%v), want one file", keep, paths, expect.Text(err))
			}
		})
	}
}
