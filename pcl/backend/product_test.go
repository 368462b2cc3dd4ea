//go:build cgo && linux && amd64

package backend

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestProductBits: a product has the same bits on processors with AVX2 and an L1 data cache of 32
// KB. Others may round otherwise. On one kind, an AMD EPYC of family 25, model 1, this product has
// other bits, for a reason that is not known, although runs of the published results have the same
// bits there.
func TestProductBits(t *testing.T) {
	w := vectors()
	comparable := (w == "AVX2" || w == "AVX-512") && cache("L1") == ""
	b := mustOpen(t, Options{Name: XLACPU, Vectors: AVX2, cache: realCache(t)})
	multiply := graph.MustNewExec(b, func(x, y *graph.Node) *graph.Node { return graph.Dot(x, y).Product() })
	defer multiply.Finalize()
	const rows, inner, columns = 128, 784, 256
	x, y := spread(rows, inner), spread(inner, columns)
	defer x.FinalizeAll()
	defer y.FinalizeAll()
	product := multiply.MustCall1(x, y)
	defer product.FinalizeAll()
	hash := sha256.New()
	must.Do(t, binary.Write(hash, binary.LittleEndian, tensors.MustCopyFlatData[float32](product)))
	const want, zen3 = "4c4153cb80fc74d2eb80d0e866a4c5f98729bbc8a8c25942815bb4239e7955d1",
		"7a92c04f323041804988021ce36b2db34922eae1b0eb4f65113c95f5778fff75"
	if got := hex.EncodeToString(hash.Sum(nil)); comparable && got != want &&
		!(got == zen3 && strings.Contains(b.Info.Device, "family 25 model 1 ")) {
		t.Errorf("the product's SHA-256 is %s on %s, want %s", got, b.Info.Device, want)
	}
}

// spread is a matrix of numbers between −0.5 and 0.5 that follow no simple order.
func spread(rows, columns int) *tensors.Tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(i*i%1009)/1009 - 0.5
	}
	return tensors.FromFlatDataAndDimensions(values, rows, columns)
}
