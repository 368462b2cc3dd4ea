package features

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
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
// scales them; output names the value in the file that has the features, [N,features].
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
	names, sizes := m.Inputs()
	if len(names) != 1 || sizes[0].Rank() != 4 || sizes[0].DType != dtypes.Float32 {
		return nil, fmt.Errorf("its inputs are %v, %v; want one of images, float32 [N,3,height,width]", names, sizes)
	}
	return m, nil
}

// mostWide is how many values features may have; the sums of lda take 268 MB then.
const mostWide = 8192

// onnxNetwork is a computer of a backbone in an ONNX file.
type onnxNetwork struct {
	store       *model.Store
	exec        *model.Exec
	batch, size int
	pictures    Pictures // without pixels
	width       int
}

// open builds the network for batches of pictures. An error names the node that GoMLX does not
// have, or what is missing.
func (f *fromONNX) open(on compute.Backend, batch, size int, p Pictures) (*onnxNetwork, error) {
	m, err := f.parse()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	n := &onnxNetwork{store: model.NewStore(), batch: batch, size: size, pictures: p}
	if err := m.VariablesToScope(n.store.RootScope()); err != nil {
		return nil, fmt.Errorf("features: the ONNX file's values cannot be read: %w", err)
	}
	names, _ := m.Inputs()
	n.exec, err = model.NewExec(on, n.store, func(scope *model.Scope, x, high, wide *graph.Node) *graph.Node {
		images := graph.TransposeAllAxes(torchScaled(resized(x, high, wide, size)), 0, 3, 1, 2)
		var outputs []string
		if f.output != "" {
			outputs = []string{f.output}
		}
		out := m.CallGraph(scope, x.Graph(), map[string]*graph.Node{names[0]: images}, outputs...)[0]
		d := out.Shape().Dimensions
		if len(d) != 2 || d[1] > mostWide || out.DType() != dtypes.Float32 {
			panic(fmt.Errorf("its output is %s; want float32 [N,features], at most %d: output=NAME names another value in it",
				out.Shape(), mostWide))
		}
		n.width = d[1]
		return out
	})
	if err == nil {
		_, err = n.exec.Compile(shapes.Make(dtypes.Uint8, batch, p.Height, p.Width, p.Channels),
			shapes.Make(dtypes.Float32, size, p.Height), shapes.Make(dtypes.Float32, size, p.Width))
	}
	if err != nil {
		n.Close()
		return nil, cannotUse(err)
	}
	return n, nil
}

// cannotUse is an error of GoMLX without the stack that it may have.
func cannotUse(err error) error {
	reason := err.Error()
	if _, behind, found := strings.Cut(reason, "panicked: "); found {
		reason, _, _ = strings.Cut(behind, "\n")
	}
	return fmt.Errorf("features: the ONNX file cannot be used: %s", reason)
}

// Close lets go of the network.
func (n *onnxNetwork) Close() {
	if n.exec != nil {
		n.exec.Finalize()
	}
	n.store.Finalize()
}

// torchScaled scales pixels as torchvision does.
func torchScaled(x *graph.Node) *graph.Node {
	g := x.Graph()
	mean := graph.Reshape(graph.Const(g, pixelMeans[:]), 1, 1, 1, 3)
	deviation := graph.Reshape(graph.Const(g, pixelDeviations[:]), 1, 1, 1, 3)
	return graph.Div(graph.Sub(graph.MulScalar(x, 1./255), mean), deviation)
}

func (n *onnxNetwork) call(x []uint8, high, wide []float32) (values []float32, err error) {
	p := n.pictures
	in := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(x, n.batch, p.Height, p.Width, p.Channels),
		tensors.FromFlatDataAndDimensions(high, n.size, p.Height), tensors.FromFlatDataAndDimensions(wide, n.size, p.Width),
	}
	out, err := n.exec.Call(in[0], in[1], in[2])
	if err != nil {
		return nil, cannotUse(err)
	}
	values, err = tensors.CopyFlatData[float32](out[0])
	for _, t := range append(in, out...) {
		t.FinalizeAll()
	}
	return values, err
}
