package pcl

import (
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/onnx"
)

// SaveONNX writes the network as an ONNX file, for ONNX Runtime and other programs (docs/weights.md
// §4). m is its model, which has to be a [model.Buildable]; if it is nil, it is found by
// [model.ByKey]. The file takes samples as the learner does, any number of them, and gives their
// logits and features and, if predictions are made by the nearest mean, the scores that are then
// compared. The file's metadata describe the network as [Network.Save] does.
func (t *Network) SaveONNX(path string, m model.Model) error {
	return saveNetwork(path, func(w io.Writer) error { return t.WriteONNX(w, m) })
}

// WriteONNX writes what [Network.SaveONNX] saves.
func (t *Network) WriteONNX(w io.Writer, m model.Model) (err error) {
	if m == nil {
		if m, err = model.ByKey(t.Model); err != nil {
			return err
		}
	}
	if t.OtherScorer && t.Sums == nil {
		return fmt.Errorf("method %s predicts by a rule of its own, which an ONNX file cannot hold", t.Method)
	}
	file, err := t.file()
	if err != nil {
		return err
	}
	n := onnx.Network{Model: m, Scores: t.Scores, Metadata: file.Metadata, Backbone: t.Backbone, Sums: t.Sums}
	if n.Parameters, n.Statistics, err = arrange(m.Layout(), t.Tensors, false); err != nil {
		return err
	}
	if t.Means != nil || t.Sums != nil {
		outputs, err := t.outputs()
		if err != nil {
			return err
		}
		for _, o := range outputs {
			n.Classes = append(n.Classes, o.Class)
			if t.Means == nil {
				continue
			}
			var mean []float32
			if at := slices.Index(t.Means.Classes, o.Class); at >= 0 {
				mean = t.Means.Values[at]
			}
			n.Means = append(n.Means, mean)
		}
	}
	return n.Write(w)
}
