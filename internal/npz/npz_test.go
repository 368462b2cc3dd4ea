package npz_test

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/npz"
)

// TestBytes compares a file with what numpy.savez writes of the same array.
func TestBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	must.Do(t, npz.Write(path, map[string]npz.Array{"x": {[]int{1, 2}, []float32{1, -2}}, "n": {nil, []int32{7}}}))
	archive := must.Get(zip.OpenReader(path))(t)
	defer archive.Close()
	pad := func(text string) string {
		for (10+len(text)+1)%64 != 0 {
			text += " "
		}
		return text + "\n"
	}
	want := map[string]string{
		"x.npy": "\x93NUMPY\x01\x00\x76\x00" + pad("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, ), }") +
			"\x00\x00\x80\x3f\x00\x00\x00\xc0",
		"n.npy": "\x93NUMPY\x01\x00\x76\x00" + pad("{'descr': '<i4', 'fortran_order': False, 'shape': (), }") +
			"\x07\x00\x00\x00",
	}
	if len(archive.File) != len(want) {
		t.Fatalf("%d members, want %d", len(archive.File), len(want))
	}
	for _, f := range archive.File {
		r := must.Get(f.Open())(t)
		got := must.Get(io.ReadAll(r))(t)
		if !bytes.Equal(got, []byte(want[f.Name])) {
			t.Errorf("%s holds %q, want %q", f.Name, got, want[f.Name])
		}
	}
}
