package pcl

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

var withTorchvision = flag.String("torchvision", "",
	"a Python with torchvision, which computes the numbers of TestTorchvision anew")

// theirs draws a ResNet-18 under torchvision's names.
func theirs(outputs int) *safetensors.File {
	rng, f := rand.New(rand.NewPCG(3, 1)), &safetensors.File{}
	add := func(name string, mean, deviation float64, dims ...int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(mean + deviation*(2*rng.Float64()-1))
		}
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Dims: dims, Values: values})
	}
	conv := func(name, norm string, in, out, size int) {
		add(name+".weight", 0, math.Sqrt(6/float64(in*size*size)), out, in, size, size)
		add(norm+".weight", 1, .5, out)
		add(norm+".bias", 0, .5, out)
		add(norm+".running_mean", 0, .5, out)
		add(norm+".running_var", 1, .5, out)
		add(norm+".num_batches_tracked", 7, 0)
	}
	conv("conv1", "bn1", 3, 64, 7)
	in := 64
	for stage := range 4 {
		out := 64 << stage
		for i := range 2 {
			at := fmt.Sprintf("layer%d.%d.", stage+1, i)
			conv(at+"conv1", at+"bn1", in, out, 3)
			conv(at+"conv2", at+"bn2", out, out, 3)
			if in != out {
				conv(at+"downsample.0", at+"downsample.1", in, out, 1)
			}
			in = out
		}
	}
	add("fc.weight", 0, .001, outputs, in)
	add("fc.bias", 0, .5, outputs)
	return f
}

// torchvisionLogits are what testdata/torchvision.py printed.
var torchvisionLogits = []float64{
	1.2440506219863892, -0.0011730790138244629, -0.20364835858345032, 0.5130374431610107, -0.7026088833808899,
	1.2349642515182495, 0.006842941045761108, -0.21178096532821655, 0.5116835832595825, -0.6495313048362732,
}

// TestTorchvision: a file of torchvision's ResNet-18 gives the network with the stem for ImageNet
// the same logits.
func TestTorchvision(t *testing.T) {
	const side, pictures, outputs = 60, 2, 5
	dir := t.TempDir()
	file := filepath.Join(dir, "net.safetensors")
	must.Do(t, atomicfile.Write(file, theirs(outputs).Write))
	rng, x := rand.New(rand.NewPCG(3, 2)), make([]float32, pictures*side*side*3)
	for i := range x {
		x[i] = float32(rng.Float64())
	}
	want := torchvisionLogits
	if *withTorchvision != "" {
		want = printed(t, file, safetensors.Tensor{Name: "x", Dims: []int{pictures, side, side, 3}, Values: x})
	}
	n := must.Get(LoadNetwork(file))(t)
	n.Increment, n.Tasks = "class", []TaskInfo{{ID: 1, Classes: []int{0, 1, 2, 3, 4}}}
	sizes := model.Sizes{Height: side, Width: side, Channels: 3, Outputs: outputs, Stem: model.StemImageNet}
	m := must.Get(model.NewResNet18(sizes))(t)
	p := must.Get(NewPredictor(pcltest.Backend(t, backend.Go), m, n, pictures))(t)
	defer p.Close()
	got := slices.Concat(must.Get(p.Outputs(1, x))(t)...)
	if len(got) != len(want) {
		t.Fatalf("%d logits; want %d", len(got), len(want))
	}
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= 1e-5) {
			t.Errorf("logit %d is %.8g; torchvision's is %.8g", i, got[i], want[i])
		}
	}
}

// printed returns what torchvision computes.
func printed(t *testing.T, file string, x safetensors.Tensor) (all []float64) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "x.safetensors")
	must.Do(t, atomicfile.Write(at, (&safetensors.File{Tensors: []safetensors.Tensor{x}}).Write))
	script := string(must.Get(os.ReadFile("testdata/torchvision.py"))(t))
	out := runPython(t, *withTorchvision, script, file, at)
	t.Logf("torchvision: %s", out)
	for _, word := range strings.Fields(out) {
		all = append(all, must.Get(strconv.ParseFloat(word, 64))(t))
	}
	return all
}
