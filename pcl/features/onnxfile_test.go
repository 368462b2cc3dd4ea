package features

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/onnx"
)

// TestONNXFile: a backbone in an ONNX file gives the features that ONNX Runtime computes, and has a
// cache of its own; one that cannot be used is refused by what is wrong in it.
func TestONNXFile(t *testing.T) {
	bin, dir := must.Python(t, "numpy, onnx, onnxruntime"), t.TempDir()
	if out, err := exec.Command(bin, "testdata/mobilenet.py", dir, "0.25", "32").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	z := must.Get(npz.Open(filepath.Join(dir, "runtime.npz"), 1<<24))(t)
	defer z.Close()
	p := Pictures{32, 32, 3, must.Get(z.Read("pixels"))(t).Data.([]uint8)}
	want := must.Get(z.Read("features"))(t).Data.([]float32)
	cache := t.TempDir()
	of := func(name, output string) ([]uint8, error) {
		s := Spec{Backbone: ONNX, Size: 32, Weights: filepath.Join(dir, name), Output: output}
		codes, err := Of(t.Context(), s, Options{Dir: cache, Open: openGo}, p)
		if err != nil {
			return nil, err
		}
		return codes[0], nil
	}

	w := must.Get(Spec{Backbone: ONNX, Weights: filepath.Join(dir, "good.onnx"), Output: "features"}.read())(t)
	b := must.Get(openGo(t.Context()))(t)
	defer b.Close()
	n := must.Get(newNetwork(b, w, Spec{Size: 32}))(t)
	defer n.close()
	got, most := must.Get(n.values(t.Context(), p))(t), 0.0
	for i := range want {
		most = max(most, math.Abs(float64(got[i]-want[i])))
	}
	if t.Logf("at most %.1e apart", most); !(most <= 2e-5) || len(got) != len(want) {
		t.Errorf("%d features up to %g apart; want %d within 2e-5", len(got), most, len(want))
	}
	codes := must.Get(of("good.onnx", "features"))(t)
	expected := make([]uint8, len(codes))
	for i := range 2 {
		must.Do(t, Encode(expected[i*Width:(i+1)*Width], got[i*Width:(i+1)*Width]))
	}
	if !slices.Equal(codes, expected) {
		t.Error("the codes are not those of the features")
	}

	wide := must.Get(of("good.onnx", "logits"))(t) // other features of the same file, some below 0
	opened := 0
	again := must.Get(Of(t.Context(), Spec{Backbone: ONNX, Size: 32, Weights: filepath.Join(dir, "good.onnx"),
		Output: "logits"},
		Options{Dir: cache, Open: counted(&opened)}, p))(t)
	if len(wide) != 20 || !slices.Equal(again[0], wide) || opened > 0 || slices.Max(wide[:10]) == 0 {
		t.Errorf("codes %d and, with the backend opened %d times, %d; want the same 10 of two pictures", wide,
			opened, again[0])
	}
	bb := must.Get(Open(t.Context(), Spec{Backbone: ONNX, Size: 32, Weights: filepath.Join(dir, "good.onnx"),
		Output: "logits"},
		Options{Dir: cache, Open: openGo}, 32, 32, 3))(t)
	if bb.Width() != 10 || !slices.Equal(bb.known[keyOf(p, 1)], wide[10:]) {
		t.Errorf("a Backbone of %d values knows %d; want %d", bb.Width(), bb.known[keyOf(p, 1)], wide[10:])
	}
	must.Do(t, bb.Close())

	whole := must.Get(os.ReadFile(filepath.Join(dir, "good.onnx")))(t)
	mlp := must.Get(model.NewMLP(4, nil, 2))(t)
	flat := onnx.Network{Model: mlp, Parameters: make([]float32, mlp.Layout().Total)}
	must.Do(t, atomicfile.Write(filepath.Join(dir, "flat.onnx"), flat.Write))
	must.Do(t, os.WriteFile(filepath.Join(dir, "cut.onnx"), whole[:len(whole)/2], 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "text.onnx"), []byte("<html>Please log in</html>"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "empty.onnx"), nil, 0o644))
	for _, c := range []struct{ name, output, want string }{
		{"cut.onnx", "features", "not a whole ONNX file"},
		{"text.onnx", "features", "not a whole ONNX file"},
		{"empty.onnx", "", "not a whole ONNX file"}, {"flat.onnx", "", "want one of images"},
		{"none.onnx", "", "no such file"},
		{"good.onnx", "head.clip", "output=NAME"}, {"good.onnx", "nonesuch", "nonesuch"},
		{"missing.onnx", "features", "block3.project.w"}, {"unknown.onnx", "features", "the odd one"},
	} {
		if _, err := of(c.name, c.output); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, output %q: %v; want an error with %q", c.name, c.output, err, c.want)
		} else {
			t.Logf("%.300v", err)
		}
	}
	for _, kept := range must.Get(List(cache))(t) {
		if kept.Pictures != 2 || kept.Damaged != 0 {
			t.Errorf("%+v; want two pictures of a file that can be used", kept)
		}
	}
}
