package onnx

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/model"
)

func mlp(t *testing.T) Network {
	m := must.Get(model.NewMLP(3, []int{2}, 4))(t)
	theta := make([]float32, m.Layout().Total)
	for i := range theta {
		theta[i] = float32(i)
	}
	return Network{Model: m, Parameters: theta, Metadata: map[string]string{"b": "2", "a": "1"}}
}

func written(t *testing.T, n Network) []byte {
	var b bytes.Buffer
	must.Do(t, n.Write(&b))
	return b.Bytes()
}

// fields returns the values of one field of a message.
func fields(t *testing.T, m []byte, field protowire.Number) (all [][]byte) {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			t.Fatal("not a message")
		}
		m = m[n:]
		size := protowire.ConsumeFieldValue(number, kind, m)
		if size < 0 {
			t.Fatal("not a message")
		}
		value := m[:size]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(m)
		}
		if number == field {
			all = append(all, value)
		}
		m = m[size:]
	}
	return all
}

func TestFile(t *testing.T) {
	n := mlp(t)
	n.Means = [][]float32{{1, 0}, nil, {0, 1}}
	file := written(t, n)
	if !bytes.Equal(file, written(t, n)) {
		t.Error("the same network gives two files")
	}
	g := fields(t, file, modelGraph)[0]
	var ops, names []string
	for _, node := range fields(t, g, graphNode) {
		ops = append(ops, string(fields(t, node, nodeOp)[0]))
	}
	for _, c := range fields(t, g, graphInitializer) {
		names = append(names, string(fields(t, c, tensorName)[0]))
	}
	want := "Gemm Relu Gemm Identity Identity ReduceSumSquare Max Sqrt Div MatMul ReduceSumSquare Sub Sub Identity"
	if got := strings.Join(ops, " "); got != want {
		t.Errorf("operations %s, want %s", got, want)
	}
	if want := []string{"dense1/weights", "dense1/bias", "classifier/weights", "classifier/bias", "least square",
		"twice the means", "squares of the means"}; !slices.Equal(names, want) {
		t.Errorf("constants %q, want %q", names, want)
	}
	if out := fields(t, g, graphOutput); len(out) != 3 || string(fields(t, out[2], infoName)[0]) != scoresName {
		t.Errorf("%d outputs", len(out))
	}
	entries := fields(t, file, modelMetadata)
	if len(entries) != 2 || string(fields(t, entries[0], entryKey)[0]) != "a" ||
		string(fields(t, entries[0], entryValue)[0]) != "1" {
		t.Errorf("metadata %q", entries)
	}
}

func TestRefuses(t *testing.T) {
	for want, spoil := range map[string]func(n *Network){
		"13 parameters and 0":           func(n *Network) { n.Parameters = n.Parameters[:13] },
		"0 parameters and 1":            func(n *Network) { n.Parameters, n.Statistics = nil, []float32{1} },
		"not implement model.Buildable": func(n *Network) { n.Model = struct{ model.Model }{n.Model} },
		"output 1 has 3":                func(n *Network) { n.Means = [][]float32{{1, 2}, {1, 2, 3}, nil, nil} },
		"means of 5 outputs; the":       func(n *Network) { n.Means = make([][]float32, 5) },
	} {
		t.Run(want, func(t *testing.T) {
			n := mlp(t)
			spoil(&n)
			if err := n.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v; want one about %q", err, want)
			}
		})
	}
}
