package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func small() File {
	return File{
		State:  json.RawMessage(`{"step":7,"name":"a <b>"}`),
		Arrays: map[string][]float32{"theta": {1, -2.5, float32(math.Inf(1)), float32(math.NaN())}, "empty": {}, "m": {3}},
	}
}

// saved returns the bytes of a checkpoint of f.
func saved(t testing.TB, f File) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.pcl")
	must.Do(t, Save(path, f))
	data := must.Get(os.ReadFile(path))(t)
	return data
}

// same says what differs between two checkpoints, to the bit.
func same(t testing.TB, got, want File) {
	t.Helper()
	if a, b := parsed(t, got.State), parsed(t, want.State); !reflect.DeepEqual(a, b) {
		t.Errorf("state %s, want %s", got.State, want.State)
	}
	if len(got.Arrays) != len(want.Arrays) {
		t.Errorf("%d arrays, want %d", len(got.Arrays), len(want.Arrays))
	}
	for name, x := range want.Arrays {
		if Sum(got.Arrays[name]) != Sum(x) {
			t.Errorf("array %s is %v, want %v", name, got.Arrays[name], x)
		}
	}
}

func parsed(t testing.TB, state []byte) (value any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(state))
	d.UseNumber()
	must.Do(t, d.Decode(&value))
	return value
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []File{small(), {State: json.RawMessage(`null`)}, {State: json.RawMessage(`[]`), Arrays: map[string][]float32{"big": make([]float32, 100000)}}} {
		got := must.Get(decode(saved(t, f)))(t)
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
		if _, err := decode(good[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d of %d bytes: %v, want ErrDamaged", n, len(good), err)
		}
	}
	if _, err := decode(append(bytes.Clone(good), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("one byte too many: %v, want ErrDamaged", err)
	}
}

func TestEveryBitFlipIsRefused(t *testing.T) {
	good := saved(t, small())
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := decode(bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d: %v, want ErrDamaged", bit, err)
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
		if _, err := decode(bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}
