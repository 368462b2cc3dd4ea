package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// sealed is a file with a right checksum; n is the length of the header, -1 for the true one.
func sealed(n int64, header string, arrays []byte) []byte {
	if n == -1 {
		n = int64(len(header))
	}
	data := binary.LittleEndian.AppendUint64([]byte(magic), uint64(n))
	data = append(append(data, header...), arrays...)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// FuzzDecode reads arbitrary bytes as they are, and sealed, so that the reader behind the checksum
// is reached too. A file that is read survives being saved.
func FuzzDecode(f *testing.F) {
	good := saved(f, content{state: json.RawMessage(`{"step":7}`), arrays: map[string][]float32{"a": {1, 2}, "b": {}}})
	f.Add(good, `{"state":{},"arrays":[{"name":"a","len":2}]}`, []byte("12345678"), int64(-1))
	f.Add(good[:20], `{"arrays":[{"len":1},{"len":1}]}`, []byte("12345678"), int64(3))
	f.Fuzz(func(t *testing.T, data []byte, header string, arrays []byte, n int64) {
		for _, in := range [][]byte{data, sealed(n, header, arrays)} {
			got, err := read(in)
			if err != nil {
				continue
			}
			if got.state == nil {
				got.state = json.RawMessage("null")
			}
			again := must.Get(read(saved(t, got)))(t)
			same(t, again, got)
		}
	})
}
