package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestInit: a run begins with another network's parameters, all but the classifier's; a
// configuration without has the identity that it had.
func TestInit(t *testing.T) {
	p := newPlayed(t)
	if text, err := json.Marshal(p.c); err != nil || strings.Contains(string(text), "init") {
		t.Errorf("without a network the configuration is %s: %v", text, expect.Text(err))
	}
	plain := p.end(weighted)
	file := filepath.Join(p.dir(), weightsFile)
	source, _ := flatOf(t, file)

	started := p.c
	must.Do(t, started.begin(file))
	if started.ID() == p.c.ID() || !strings.HasPrefix(started.variant(), "init ") {
		t.Errorf("it has the identity %s, as without, or the variant %q", started.ID(), started.variant())
	}
	l := must.Get(Checked{config: started}.newLearner(p.w.Machine, p.w.Machine.set, 8, pcl.Options{}))(t)
	defer l.Close()
	n := must.Get(l.Network())(t)
	for i, x := range n.Tensors {
		if classifier := strings.HasPrefix(x.Name, "classifier/"); slices.Equal(x.Values,
			source.Tensors[i].Values) == classifier {
			t.Errorf("%s was taken: %v", x.Name, !classifier)
		}
	}

	first := p.dir()
	p.c, p.w.Dir = started, t.TempDir()
	r := p.end(nil)
	if r.ModelSHA256 == plain.ModelSHA256 || !strings.Contains(string(r.Config), started.Init) {
		t.Errorf("the run began as without, or does not say how: %s", r.Config)
	}
	p.w.Dir = t.TempDir()
	p.stop(5, nil)
	if again := p.end(nil); again.ModelSHA256 != r.ModelSHA256 {
		t.Error("resumed it ends otherwise")
	}

	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "net.safetensors"), read(t, file), 0o600))
	fromTOML, err := parseIn(dir, `init = "net.safetensors"`)
	if err != nil || fromTOML.Init != started.Init {
		t.Errorf("from TOML: %s, %v", fromTOML.Init, expect.Text(err))
	}

	refuse := func(c Config, want string) {
		t.Helper()
		_, err := made(t.Context(), c, work{Schedule: Schedule{Machine: p.w.Machine}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error about %q", err, want)
		}
	}
	var fromResult Config
	must.Do(t, json.Unmarshal(r.Config, &fromResult))
	refuse(fromResult, "say which file that is")
	fromResult.InitFile = filepath.Join(first, results.ResultFile)
	refuse(fromResult, "not a safetensors file")
	fromResult.InitFile = file
	if again, err := made(t.Context(), fromResult, work{Schedule: Schedule{Machine: p.w.Machine}}); err != nil ||
		again.ModelSHA256 != r.ModelSHA256 {
		t.Errorf("from its result it ends otherwise: %v", expect.Text(err))
	}
	wide := started
	wide.Hidden = []int{16, 9}
	refuse(wide, "tensor dense2/weights has the shape [16 8]; the model wants [16 9]")
	must.Do(t, os.Remove(file))
	refuse(started, "no such file")
	changed := *source
	changed.Steps++
	must.Do(t, changed.Save(file))
	refuse(started, "has changed")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data := must.Get(os.ReadFile(path))(t)
	return data
}
