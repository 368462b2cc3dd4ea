// Package onnx writes trained networks as ONNX files, which ONNX Runtime and many other programs
// run. Begin with [Network.Write].
//
// GoMLX can write graphs as ONNX too (package ml/model/onnx), but only with a build tag, and with
// its ONNX backend, which needs the library of ONNX Runtime. The networks here consist of few
// operations, so that their files are written directly.
package onnx

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// Network is what a file is made of.
type Network struct {
	Model      model.Model // one that is a model.Buildable
	Parameters []float32   // in the order of Layout.Params
	Statistics []float32   // in the order of Layout.Stats
	Scores     model.Scores
	// Means, if set, has an entry for each output: the mean of the features of its class, of length
	// 1, or nil. They give the file the output "scores".
	Means [][]float32
	// Sums, if set, is the classifier of a method that learns from sums, and Classes are the
	// classes of the outputs. The file then has the output "scores" only.
	Sums    *analytic.Map
	Classes []int
	// Backbone, if set, is in front of the network.
	Backbone *Backbone
	Metadata map[string]string
}

// Names of a file's input and outputs. Each has a row for each sample, of which there may be any
// number.
const (
	inputName    = "x"        // the values of the samples, as in training: [N, inputs]
	logitsName   = "logits"   // [N, outputs]
	featuresName = "features" // [N, F], the classifier's input
	// The scores are −d², where d is the distance of the features, of length 1, from the mean of
	// each output's class; −∞ for outputs without a mean.
	scoresName = "scores"
)

// maxSize is the largest message that protocol buffers allow.
const maxSize = 1<<31 - 1

// Write writes the network as an ONNX file of opset 17.
func (n Network) Write(w io.Writer) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("onnx: %w", err)
		}
	}()
	l := n.Model.Layout()
	if len(n.Parameters) != l.Total || len(n.Statistics) != l.StatsTotal {
		return fmt.Errorf("%d parameters and %d statistics, the model has %d and %d",
			len(n.Parameters), len(n.Statistics), l.Total, l.StatsTotal)
	}
	if 4*(l.Total+l.StatsTotal) > maxSize/2 {
		return fmt.Errorf("%d parameters are too many for a file: it holds 1 GB of them", l.Total)
	}
	g := &graph{network: n, layout: l, added: map[string]bool{}}
	outputs, err := n.outputs(g)
	if err != nil {
		return err
	}
	_, err = w.Write(n.message(g, outputs))
	return err
}

// outputs adds everything to the graph.
func (n Network) outputs(g *graph) ([][]byte, error) {
	l, x := n.Model.Layout(), model.Value(inputName)
	if n.Backbone != nil {
		if n.Backbone.Features != n.Model.Inputs() {
			return nil, fmt.Errorf("a backbone of %d features; the network takes %d", n.Backbone.Features, n.Model.Inputs())
		}
		x = n.Backbone.samples(g)
	}
	if n.Sums != nil {
		scores, err := g.sums(x, n.Sums, n.Classes, n.Model.Outputs())
		return [][]byte{g.output(scores, scoresName, n.Model.Outputs())}, err
	}
	features, logits, err := model.Build(n.Model, g, x)
	if err != nil {
		return nil, err
	}
	width, classes := l.Params[l.Classifier].Dims[0], n.Model.Outputs()
	if n.Scores.Cosine {
		logits = g.cosines(features, width)
	}
	outputs := [][]byte{g.output(logits, logitsName, classes), g.output(features, featuresName, width)}
	if n.Means != nil {
		if len(n.Means) > classes {
			return nil, fmt.Errorf("means of %d outputs; the model has %d", len(n.Means), classes)
		}
		other := func(m []float32) bool { return m != nil && len(m) != width }
		if i := slices.IndexFunc(n.Means, other); i >= 0 {
			return nil, fmt.Errorf("the mean of output %d has %d features; the model has %d", i, len(n.Means[i]), width)
		}
		outputs = append(outputs, g.output(g.distances(features, width), scoresName, classes))
	}
	return outputs, nil
}

// message puts the file together.
func (n Network) message(g *graph, outputs [][]byte) []byte {
	var body message
	for _, node := range g.nodes {
		body.bytes(graphNode, node)
	}
	body.text(graphName, n.Model.Key())
	for _, t := range g.constants {
		body.bytes(graphInitializer, t)
	}
	if b := n.Backbone; b != nil {
		body.bytes(graphInput, valueInfo(pixelsName, uint8s, b.Height, b.Width, b.Channels))
	} else {
		body.bytes(graphInput, valueInfo(inputName, float32s, n.Model.Inputs()))
	}
	for _, o := range outputs {
		body.bytes(graphOutput, o)
	}
	var opset, file message
	opset.text(opsetDomain, "")
	opset.number(opsetVersion, 17)
	file.number(modelIRVersion, 8)
	file.text(modelProducer, "parallelcl")
	file.bytes(modelGraph, body)
	file.bytes(modelOpset, opset)
	for _, key := range slices.Sorted(maps.Keys(n.Metadata)) {
		var entry message
		entry.text(entryKey, key)
		entry.text(entryValue, n.Metadata[key])
		file.bytes(modelMetadata, entry)
	}
	return file
}
