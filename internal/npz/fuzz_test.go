package npz

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzRead reads arbitrary archives; what is read has as many entries as its shape says.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.npz")
	if err := Write(path, map[string]Array{"x": {[]int{1, 2}, []float32{1, -2}}, "n": {nil, []int32{7}}}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := NewReader(bytes.NewReader(data), int64(len(data)), 1<<16)
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			a, err := file.Read(name)
			if err != nil {
				continue
			}
			n := 1
			for _, d := range a.Shape {
				n *= d
			}
			if got := reflect.ValueOf(a.Data).Len(); got != n {
				t.Errorf("%s has %d entries for the shape %v", name, got, a.Shape)
			}
		}
	})
}

// FuzzHeader reads arbitrary headers, which an archive's checksums keep FuzzRead from.
func FuzzHeader(f *testing.F) {
	for _, text := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, ), }", "{\"descr\": u'|b1', 'shape': (), 'fortran_order': True}",
		"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4L,)}", "((((((", "{'\\x41': -1}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		head := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
		h, err := readHeader(bytes.NewReader(append(head, text...)))
		if err == nil && (h.entries.size < 1 || len(h.shape) > 0 && min(h.shape[0], h.shape[len(h.shape)-1]) < 0) {
			t.Errorf("%q: %+v", text, h)
		}
	})
}
