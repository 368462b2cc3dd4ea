package npz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"hash/crc32"
	"reflect"
	"testing"
)

// FuzzRead reads arbitrary archives; an array that is read has as many entries as its shape says.
// The seed is short, since an input that reaches new code is made smaller in as many tries as the
// square of its length.
func FuzzRead(f *testing.F) {
	const head = "{'descr':'u1','fortran_order':False,'shape':(2,)}"
	var seed bytes.Buffer
	z := zip.NewWriter(&seed)
	file := small(head, "ab")
	size := uint64(len(file))
	w, err := z.CreateRaw(&zip.FileHeader{Name: "x.npy", CRC32: crc32.ChecksumIEEE(file), CompressedSize64: size,
		UncompressedSize64: size})
	if err == nil {
		_, err = w.Write(file)
	}
	if err := cmp.Or(err, z.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes())
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

// small is a .npy file without padding.
func small(head, data string) []byte {
	return append([]byte("\x93NUMPY\x01\x00"), string(byte(len(head)))+"\x00"+head+data...)
}

// FuzzHeader reads arbitrary headers, which an archive's checksums keep FuzzRead from.
func FuzzHeader(f *testing.F) {
	for _, text := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, ), }",
		"{\"descr\": u'|b1', 'shape': (), 'fortran_order': True}",
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
