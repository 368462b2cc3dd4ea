package features

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	onnxfile "github.com/gomlx/onnx-gomlx/onnx"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// ONNX is the name of backbones in ONNX files.
const ONNX = "onnx"

// fromONNX is a backbone in an ONNX file. Its input are images [N,3,H,W], of pixels as torchvision
// scales them; output names the value in the file that has the features, [N,Width].
type fromONNX struct {
	file   []byte
	output string
}

// Means and deviations of ImageNet's pixels, by which torchvision scales them.
var (
	pixelMeans      = [3]float32{0.485, 0.456, 0.406}
	pixelDeviations = [3]float32{0.229, 0.224, 0.225}
)

// readONNX reads a backbone, and refuses files that GoMLX does not read.
func readONNX(s Spec) (*weights, error) {
	data, err := regular.ReadFile(s.Weights)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	f := &fromONNX{data, s.Output}
	if _, err := f.parse(); err != nil {
		return nil, fmt.Errorf("features: %s: %w", s.Weights, err)
	}
	sum := sha256.Sum256(append([]byte(s.Output+"\n"), data...))
	return &weights{onnx: f, sum: hex.EncodeToString(sum[:])}, nil
}

// parse returns the file's network. The parser panics for some files that it cannot read.
func (f *fromONNX) parse() (m onnxfile.Model, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is not a whole ONNX file: %v", r)
		}
	}()
	if m, err = parser.Parse(f.file); err != nil {
		return nil, fmt.Errorf("it is not a whole ONNX file: %w", err)
	}
	names, shapes := m.Inputs()
	if len(names) != 1 || shapes[0].Rank() != 4 || shapes[0].DType != dtypes.Float32 {
		return nil, fmt.Errorf("its inputs are %v, %v; want one of images, float32 [N,3,height,width]", names, shapes)
	}
	return m, nil
}

// onnxNetwork computes features on one client.
type onnxNetwork struct {
	store *model.Store
	exec  *model.Exec
	x     [4]int // dimensions of a batch of pictures
}

// open builds the network for batches of pictures.
func (f *fromONNX) open(on compute.Backend, batch, size int, p Pictures) (*onnxNetwork, error) {
	m, err := f.parse()
	if err != nil {
		return nil, err
	}
	store := model.NewStore()
	if err := m.VariablesToScope(store.RootScope()); err != nil {
		return nil, fmt.Errorf("its values cannot be read: %w", err)
	}
	names, _ := m.Inputs()
	exec, err := model.NewExec(on, store, func(scope *model.Scope, x, high, wide *graph.Node) *graph.Node {
		images := graph.TransposeAllAxes(torchScaled(resized(x, high, wide, size)), 0, 3, 1, 2)
		var outputs []string
		if f.output != "" {
			outputs = []string{f.output}
		}
		out := m.CallGraph(scope, x.Graph(), map[string]*graph.Node{names[0]: images}, outputs...)[0]
		if d := out.Shape().Dimensions; len(d) != 2 || d[1] != Width || out.DType() != dtypes.Float32 {
			panic(fmt.Errorf("its output is %s; want float32 [N,%d]: output=NAME names another value in it", out.Shape(), Width))
		}
		return out
	})
	return &onnxNetwork{store, exec, [4]int{batch, p.Height, p.Width, p.Channels}}, err
}

func (n *onnxNetwork) close() {
	n.exec.Finalize()
	n.store.Finalize()
}

// torchScaled scales pixels as torchvision does.
func torchScaled(x *graph.Node) *graph.Node {
	g := x.Graph()
	mean := graph.Reshape(graph.Const(g, pixelMeans[:]), 1, 1, 1, 3)
	deviation := graph.Reshape(graph.Const(g, pixelDeviations[:]), 1, 1, 1, 3)
	return graph.Div(graph.Sub(graph.MulScalar(x, 1./255), mean), deviation)
}

// call returns the features of a batch of pictures. high [size, height] and wide [size, width] are
// the matrices that resize the rows and the columns of a picture. The first call compiles the
// network; an error names the node that GoMLX does not have, or what is missing.
func (n *onnxNetwork) call(x []uint8, high, wide []float32) (values []float32, err error) {
	size := len(high) / n.x[1]
	in := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(x, n.x[:]...),
		tensors.FromFlatDataAndDimensions(high, size, n.x[1]), tensors.FromFlatDataAndDimensions(wide, size, n.x[2]),
	}
	out, err := n.exec.Call(in[0], in[1], in[2])
	if err != nil {
		reason := err.Error()
		if _, behind, found := strings.Cut(reason, "panicked: "); found {
			reason, _, _ = strings.Cut(behind, "\n")
		}
		return nil, fmt.Errorf("features: the ONNX file cannot be used: %s", reason)
	}
	values, err = tensors.CopyFlatData[float32](out[0])
	for _, t := range append(in, out...) {
		t.FinalizeAll()
	}
	return values, err
}
