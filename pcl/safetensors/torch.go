package safetensors

import (
	"regexp"
	"slices"
	"strings"
)

// names turn the name of a layer of torchvision's and timm's ResNet-18 into ours.
var names = []struct {
	theirs *regexp.Regexp
	ours   string
}{
	{regexp.MustCompile(`^conv1$`), "stem/conv"},
	{regexp.MustCompile(`^bn1$`), "stem/norm"},
	{regexp.MustCompile(`^fc$`), "classifier"},
	{regexp.MustCompile(`^layer(\d)\.(\d)\.conv(\d)$`), "layer$1/$2/conv$3"},
	{regexp.MustCompile(`^layer(\d)\.(\d)\.bn(\d)$`), "layer$1/$2/norm$3"},
	{regexp.MustCompile(`^layer(\d)\.(\d)\.downsample\.0$`), "layer$1/$2/shortcut/conv"},
	{regexp.MustCompile(`^layer(\d)\.(\d)\.downsample\.1$`), "layer$1/$2/shortcut/norm"},
}

// kinds of a layer's tensors, of convolutions and linear layers, and of batch normalisation.
var (
	ofProducts = map[string]string{"weight": "weights", "bias": "bias"}
	ofNorms    = map[string]string{"weight": "scale", "bias": "shift", "running_mean": "mean", "running_var": "variance"}
)

// FromTorch returns the tensors of a ResNet-18 of torchvision or timm as this program has them:
// under its names, convolutions as [height,width,in,out], and linear layers as [in,out]. A file of
// anything else is returned as it is.
func FromTorch(f *File) *File {
	if !slices.ContainsFunc(f.Tensors, func(t Tensor) bool { return t.Name == "layer1.0.conv1.weight" }) {
		return f
	}
	out := &File{Metadata: f.Metadata}
	for _, t := range f.Tensors {
		if name := renamed(t.Name); name != "" {
			t = Tensor{name, t.Dims, t.Values}.turned()
		}
		out.Tensors = append(out.Tensors, t)
	}
	return out
}

// renamed returns our name for a tensor, or nothing if there is none.
func renamed(name string) string {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return ""
	}
	for _, n := range names {
		if !n.theirs.MatchString(name[:at]) {
			continue
		}
		layer, kinds := n.theirs.ReplaceAllString(name[:at], n.ours), ofProducts
		if strings.Contains(layer, "/norm") {
			kinds = ofNorms
		}
		if kind := kinds[name[at+1:]]; kind != "" {
			return layer + "/" + kind
		}
	}
	return ""
}

// turned puts the axes of outputs and inputs, which are first in PyTorch, last.
func (t Tensor) turned() Tensor {
	if len(t.Dims) != 2 && len(t.Dims) != 4 {
		return t
	}
	out, in := t.Dims[0], t.Dims[1]
	places := len(t.Values) / max(1, out*in)
	values := make([]float32, len(t.Values))
	for i, v := range t.Values {
		o, rest := i/(in*places), i%(in*places)
		values[(rest%places*in+rest/places)*out+o] = v
	}
	return Tensor{t.Name, append(slices.Clone(t.Dims[2:]), in, out), values}
}

// counters are what PyTorch's batch normalisation counts. They are whole numbers, and nothing is
// computed with them.
const counters = ".num_batches_tracked"
