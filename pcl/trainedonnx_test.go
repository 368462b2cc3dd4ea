package pcl

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// runONNX compares what ONNX Runtime computes with what is in a safetensors file, for all samples
// at once and for one, and prints the largest difference.
const runONNX = `
import sys, json, numpy, onnx, onnxruntime, safetensors.numpy
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
want = safetensors.numpy.load_file(sys.argv[2])
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
about = json.loads(session.get_modelmeta().custom_metadata_map["parallelcl"])
assert [o["class"] for o in about["outputs"]] == [4, 0, 2, 3, 1, 5], about
names = [o.name for o in session.get_outputs()]
x, worst = want.pop("x"), 0.0
assert set(names) == set(want), names
for rows in (slice(None), slice(0, 1)):
    for name, got in zip(names, session.run(names, {"x": x[rows]})):
        expected = want[name][rows]
        assert got.shape == expected.shape, (name, got.shape)
        assert (numpy.isinf(got) == numpy.isinf(expected)).all()
        finite = numpy.isfinite(expected)
        worst = max(worst, float(numpy.abs(got[finite] - expected[finite]).max()))
print(worst)
`

// TestONNXRuntime: ONNX Runtime computes the logits and features that the learner has, and the
// scores of nearest means.
func TestONNXRuntime(t *testing.T) {
	bin := must.Python(t, "numpy, onnx, onnxruntime, safetensors")
	released := must.Get(model.NewResNet18(model.Sizes{Height: 8, Width: 8, Channels: 1, StemChannels: 4, Outputs: 7,
		Release: true}))(t)
	b := pcltest.Backend(t, backend.Go)
	for _, c := range []struct {
		name, method string
		increment    string
		model        model.Model
	}{
		{"mlp", "emgd-gmc", "task", nil}, {"means", "emgd", "class", nil},
		{"cosines", "mdmtr", "class", nil}, {"means-resnet", "icarl", "class", tinyResNet(t)},
		{"resnet", "emgd-gmc", "class", tinyResNet(t)}, {"released", "avggrad", "task", released},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, d := trainedLearner(t, b, c.method, Options{Increment: c.increment, Model: c.model})
			dir := t.TempDir()
			file, expected := filepath.Join(dir, "net.onnx"), filepath.Join(dir, "want.safetensors")
			must.Do(t, must.Get(l.Network())(t).SaveONNX(file, nil))
			must.Do(t, atomicfile.Write(expected,
				(&safetensors.File{Tensors: expectedOf(t, l, d.Select(&d.Test, 3, 0, 1, 2, 3, 4, 5))}).Write))
			worst, err := strconv.ParseFloat(strings.TrimSpace(runPython(t, bin, runONNX, file, expected)), 64)
			must.Do(t, err)
			if worst > 1e-5 {
				t.Errorf("ONNX Runtime differs by %g; want at most 1e-5", worst)
			}
			t.Logf("largest difference %.2g", worst)
		})
	}
}

// expectedOf returns samples, and what a learner computes for them.
func expectedOf(t *testing.T, l *Learner, s data.Samples) []safetensors.Tensor {
	t.Helper()
	p := must.Get(l.Snapshot())(t)
	defer p.Close()
	x, _ := flat(s, 64)
	n := s.Len()
	var logits, features, scores [][]float32
	for from := 0; from < n; from += 8 {
		some := min(8, n-from)
		rule := p.rule
		if rule == nil {
			p.rule = noRule{} // so that features are computed
		}
		d := new(described)
		must.Do(t, p.describe(d, x[from*64:(from+some)*64], 8, 0))
		p.rule = rule
		logits, features = append(logits, d.scores...), append(features, d.features...)
	}
	tensor := func(name string, rows [][]float32) safetensors.Tensor {
		return safetensors.Tensor{Name: name, Dims: []int{len(rows), len(rows[0])}, Values: slices.Concat(rows...)}
	}
	out := []safetensors.Tensor{{Name: "x", Dims: []int{n, 64}, Values: x}, tensor("logits", logits),
		tensor("features", features)}
	if p.rule == nil {
		return out
	}
	classes := append(l.Classes(), 99)[:l.Options().Model.Outputs()] // no samples are known of the last
	for _, f := range features {
		row := make([]float64, len(classes))
		if !p.rule.Score(f, classes, row) {
			t.Fatal("the means are not compared")
		}
		scores = append(scores, single(row))
	}
	return append(out, tensor("scores", scores))
}

type noRule struct{}

func (noRule) Score([]float32, []int, []float64) bool { return false }

func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// TestSaveONNXRefuses: a network that cannot be written gives an error, and no file.
func TestSaveONNXRefuses(t *testing.T) {
	l, _ := trainedLearner(t, pcltest.Backend(t, backend.Go), "emgd-gmc", Options{})
	for what, c := range map[string]struct {
		spoil func(n *Network) model.Model
		want  string
	}{
		"an unknown key": {func(n *Network) model.Model { n.Model = "vit"; return nil }, `"vit"`},
		"a tensor is missing": {func(n *Network) model.Model {
			n.Tensors = n.Tensors[1:]
			return nil
		}, "of the model is missing"},
		"a rule of its own": {func(n *Network) model.Model {
			n.OtherScorer = true
			return nil
		}, "predicts by a rule of its own"},
		"a class twice": {func(n *Network) model.Model {
			n.Tasks[0].Classes = []int{4, 4}
			return nil
		}, "it lists class 4 twice"},
		"a model not buildable": {func(n *Network) model.Model {
			return struct{ model.Model }{l.Options().Model}
		}, "Buildable"},
	} {
		t.Run(what, func(t *testing.T) {
			n, folder := must.Get(l.Network())(t), t.TempDir()
			refused(t, n.SaveONNX(filepath.Join(folder, "net.onnx"), c.spoil(n)), c.want)
			if found, _ := filepath.Glob(folder + "/*"); found != nil {
				t.Errorf("files %v", found)
			}
		})
	}
}
