package features

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// drawnFile writes such weights to a file.
func drawnFile(t testing.TB, seed uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawn.safetensors")
	must.Do(t, atomicfile.Write(path, Draw(seed).Write))
	return path
}

// drawnPictures are n pictures of noise over a slope.
func drawnPictures(n, height, width, channels int) Pictures {
	rng := rand.New(rand.NewPCG(uint64(n*height*width), uint64(channels)))
	p := Pictures{height, width, channels, make([]uint8, n*height*width*channels)}
	for i := range p.Pixels {
		p.Pixels[i] = uint8(rng.IntN(128) + i%p.one()*127/p.one())
	}
	return p
}

func openGo(ctx context.Context) (*backend.Backend, error) {
	return backend.Open(ctx, backend.Options{Name: backend.Go})
}

// newDrawn returns a network with drawn weights.
func newDrawn(t testing.TB, on string, s Spec) *network {
	t.Helper()
	b := must.Get(backend.Open(t.Context(), backend.Options{Name: on}))(t)
	w := must.Get(fold(Draw(1)))(t)
	n := must.Get(newNetwork(b, w, s))(t)
	t.Cleanup(func() { n.close(); b.Close() })
	return n
}

// TestAgainstRuntime compares features with those that ONNX Runtime computes with the same weights,
// drawn or published, and pictures: the file in testdata has them, and testdata/runtime.py makes
// it.
func TestAgainstRuntime(t *testing.T) {
	weights := must.Get(fold(Draw(1)))(t)
	against(t, "drawn", weights, Spec{Size: 64}, backend.Go)
}

func against(t *testing.T, name string, w *weights, s Spec, on string) {
	t.Helper()
	z := must.Get(npz.Open("testdata/runtime.npz", 1<<24))(t)
	defer z.Close()
	x := must.Get(z.Read(name + "_x"))(t)
	want := must.Get(z.Read(name + "_features"))(t).Data.([]float32)
	b := must.Get(backend.Open(t.Context(), backend.Options{Name: on}))(t)
	defer b.Close()
	n := must.Get(newNetwork(b, w, s))(t)
	defer n.close()
	got := must.Get(n.values(t.Context(), Pictures{x.Shape[1], x.Shape[2], x.Shape[3], x.Data.([]uint8)}))(t)
	if len(got) != len(want) {
		t.Fatalf("%d values; want %d", len(got), len(want))
	}
	most := 0.0
	for i := range got {
		most = max(most, math.Abs(float64(got[i]-want[i])))
	}
	if t.Logf("%s: at most %.1e apart", name, most); !(most <= 1e-4) {
		t.Errorf("%s: features up to %g apart; want 1e-4", name, most)
	}
}

// TestPublished is TestAgainstRuntime with the published weights, where they are installed or a
// variable names their file. On a server of checks (CI) they are fetched.
func TestPublished(t *testing.T) {
	dir := must.Get(cacheDir(""))(t)
	path := here(dir)
	if given := os.Getenv("PARALLELCL_LITE0"); given != "" {
		path = given
	}
	if os.Getenv("CI") != "" && path == here(dir) {
		must.Get(installed(t.Context(), dir, os.Stderr))(t)
	}
	if !Here(Spec{Weights: path}, "") {
		t.Logf("the weights are not here: PARALLELCL_LITE0=FILE go test ./pcl/features -run Published -v checks them")
		return
	}
	w := must.Get(readWeights(path))(t)
	if w.sum != published {
		t.Fatalf("the weights in %s have the sum %s; want %s", path, w.sum, published)
	}
	against(t, "published", w, Spec{Size: 128}, backend.Auto)
}

// TestPlaces: the features of a picture are the same to the bit at any place of a batch, beside
// others and alone.
func TestPlaces(t *testing.T) {
	for _, on := range []string{backend.Go, backend.Auto} {
		t.Run(on, func(t *testing.T) { places(t, newDrawn(t, on, Spec{Size: 32})) })
	}
}

func places(t *testing.T, n *network) {
	p := drawnPictures(6, 20, 24, 3)
	all := must.Get(n.values(t.Context(), p))(t)
	for i := range p.Len() {
		alone := must.Get(n.values(t.Context(), Pictures{20, 24, 3, p.of(i)}))(t)
		if !slices.Equal(alone, all[i*Width:(i+1)*Width]) {
			t.Errorf("picture %d has other features alone", i)
		}
	}
}

// TestFlips: with flips, a picture and its mirror image have the same features; a grey picture has
// those of its copy in colour.
func TestFlips(t *testing.T) {
	n := newDrawn(t, backend.Go, Spec{Size: 32, Flips: true})
	p := drawnPictures(1, 32, 32, 1)
	colour := Pictures{32, 32, 3, nil}
	for _, v := range p.Pixels {
		colour.Pixels = append(colour.Pixels, v, v, v)
	}
	mirrored := Pictures{32, 32, 3, slices.Clone(colour.Pixels)}
	mirror(mirrored.Pixels, 32, 3)
	first := must.Get(n.values(t.Context(), p))(t)
	for name, p := range map[string]Pictures{"in colour": colour, "mirrored": mirrored} {
		if !slices.Equal(must.Get(n.values(t.Context(), p))(t), first) {
			t.Errorf("%s: other features", name)
		}
	}
}

// TestResizing: a row of one value stays so, a slope stays a slope within, and pixels that become
// fewer all count.
func TestResizing(t *testing.T) {
	for _, c := range [][2]int{{1, 128}, {2, 32}, {20, 32}, {32, 128}, {32, 32}, {128, 32}, {100, 64}, {1, 1}} {
		m := resizing(c[0], c[1])
		for i := range c[1] {
			sum, at := 0.0, 0.0
			for j, w := range m[i*c[0] : (i+1)*c[0]] {
				sum, at = sum+float64(w), at+float64(w)*float64(j)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("%v: row %d adds up to %g", c, i, sum)
			}
			ratio := float64(c[0]) / float64(c[1])
			want := (float64(i)+0.5)*ratio - 0.5
			inside := want > 2*max(1, ratio) && want < float64(c[0]-1)-2*max(1, ratio)
			if inside && math.Abs(at-want) > 0.05 { // the kernel of PyTorch does not keep slopes exactly
				t.Errorf("%v: pixel %d comes from %g; want %g", c, i, at, want)
			}
		}
		for j := range c[0] {
			counts := 0.0
			for i := range c[1] {
				counts += math.Abs(float64(m[i*c[0]+j]))
			}
			if counts == 0 {
				t.Errorf("%v: pixel %d counts nowhere", c, j)
			}
		}
	}
}

var drawnPath = flag.String("drawn", "", "where TestWriteDrawn writes drawn weights")

// TestWriteDrawn writes the weights that testdata/runtime.py reads.
func TestWriteDrawn(t *testing.T) {
	path := *drawnPath
	if path == "" {
		path = filepath.Join(t.TempDir(), "drawn.safetensors")
	}
	must.Do(t, atomicfile.Write(path, Draw(1).Write))
	if w := must.Get(readWeights(path))(t); w.sum != must.Get(fold(Draw(1)))(t).sum {
		t.Errorf("what is read back is not what was written")
	}
}
