package checkpoint

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// content is what a checkpoint holds.
type content struct {
	state  json.RawMessage
	arrays map[string][]float32
}

// read reads a checkpoint from memory.
func read(data []byte) (c content, err error) {
	c.state, c.arrays, err = Decode(data)
	return c, err
}

func small() content {
	return content{
		state:  json.RawMessage(`{"step":7,"name":"a <b>"}`),
		arrays: map[string][]float32{"theta": {1, -2.5, float32(math.Inf(1)), float32(math.NaN())}, "empty": {}, "m": {3}},
	}
}

// saved returns the bytes of a checkpoint.
func saved(t testing.TB, c content) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.pcl")
	must.Do(t, Save(path, c.state, c.arrays))
	data := must.Get(os.ReadFile(path))(t)
	return data
}

// same says what differs between two checkpoints, to the bit.
func same(t testing.TB, got, want content) {
	t.Helper()
	if a, b := parsed(t, got.state), parsed(t, want.state); !reflect.DeepEqual(a, b) {
		t.Errorf("state %s, want %s", got.state, want.state)
	}
	if len(got.arrays) != len(want.arrays) {
		t.Errorf("%d arrays, want %d", len(got.arrays), len(want.arrays))
	}
	for name, x := range want.arrays {
		if y := got.arrays[name]; !slices.Equal(bits(y), bits(x)) {
			t.Errorf("array %s is %v, want %v", name, got.arrays[name], x)
		}
	}
}

func bits(x []float32) (all []uint32) {
	for _, v := range x {
		all = append(all, math.Float32bits(v))
	}
	return all
}

func parsed(t testing.TB, state []byte) (value any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(state))
	d.UseNumber()
	must.Do(t, d.Decode(&value))
	return value
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []content{small(), {state: json.RawMessage(`null`)},
		{state: json.RawMessage(`[]`), arrays: map[string][]float32{"big": make([]float32, 100000)}}} {
		got := must.Get(read(saved(t, f)))(t)
		same(t, got, f)
	}
	if a, b := saved(t, small()), saved(t, small()); !bytes.Equal(a, b) {
		t.Error("the same content gives different files")
	}
}

// TestEveryTruncationIsRefused cuts a file off after each byte, and lengthens it.
func TestEveryTruncationIsRefused(t *testing.T) {
	good := saved(t, small())
	for n := range good {
		if _, err := read(good[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read", n, len(good))
		}
	}
	_, err := read(append(good, 0))
	expect.Refusal(t, "read", err, "the checksum does not match; the file was cut off or altered")
}

func TestEveryBitFlipIsRefused(t *testing.T) {
	good := saved(t, small())
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := read(bad); err == nil {
			t.Errorf("bit %d is read", bit)
		}
	}
}

// TestWrongContent seals nonsense with a right checksum.
func TestWrongContent(t *testing.T) {
	for name, bad := range map[string][]byte{
		"long header":    sealed(1<<62, "{}", nil),
		"no JSON":        sealed(2, "{{", nil),
		"missing array":  sealed(-1, `{"state":1,"arrays":[{"name":"a","len":2}]}`, make([]byte, 7)),
		"negative array": sealed(-1, `{"state":1,"arrays":[{"name":"a","len":-1}]}`, nil),
		"huge array":     sealed(-1, `{"state":1,"arrays":[{"name":"a","len":4611686018427387905}]}`, make([]byte, 4)),
		"rest":           sealed(-1, `{"state":1}`, []byte{0}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(bad); err == nil {
				t.Errorf("%s is read", name)
			}
		})
	}
}
