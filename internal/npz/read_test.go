package npz_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/npz"
)

// packed writes a .npz file whose one array x has the given header and data.
func packed(t *testing.T, method uint16, head, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npz")
	f := must.Get(os.Create(path))(t)
	z := zip.NewWriter(f)
	w := must.Get(z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: method}))(t)
	length := binary.LittleEndian.AppendUint16(nil, uint16(len(head)))
	must.Get(w.Write([]byte("\x93NUMPY\x01\x00" + string(length) + head + data)))(t)
	must.Do(t, z.Close())
	must.Do(t, f.Close())
	return path
}

func read(t *testing.T, path string) (npz.Array, error) {
	t.Helper()
	f := must.Get(npz.Open(path, 1<<20))(t)
	defer f.Close()
	return f.Read("x")
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		descr, shape, data string
		want               npz.Array
	}{
		{"<f4", "1, 2", "\x00\x00\x80\x3f\x00\x00\x00\xc0", npz.Array{[]int{1, 2}, []float32{1, -2}}},
		{">f4", "1,", "\x3f\x80\x00\x00", npz.Array{[]int{1}, []float32{1}}},
		{"<f8", "1,", "\x00\x00\x00\x00\x00\x00\xf0\x3f", npz.Array{[]int{1}, []float64{1}}},
		{"<f2", "3,", "\x00\x3c\x01\x00\x00\xfc", npz.Array{[]int{3}, []float32{1, 1.0 / (1 << 24), float32(math.Inf(-1))}}},
		{"|u1", "2,", "\x05\xff", npz.Array{[]int{2}, []uint8{5, 255}}},
		{"|b1", "4,", "\x00\x01\x02\xff", npz.Array{[]int{4}, []int64{0, 1, 1, 1}}},
		{"<u8", "1,", "\xff\xff\xff\xff\xff\xff\xff\x7f", npz.Array{[]int{1}, []int64{math.MaxInt64}}},
		{"<U1", "1,", "\x00\xd8\x00\x00", npz.Array{[]int{1}, []string{"\xff"}}},
		{"<i2", "1,", "\xff\xff", npz.Array{[]int{1}, []int64{-1}}},
		{"<i8", "", "\x07\x00\x00\x00\x00\x00\x00\x00", npz.Array{nil, []int64{7}}},
		{"<U2", "2,", "a\x00\x00\x00\x00\x00\x00\x00\xe9\x00\x00\x00b\x00\x00\x00",
			npz.Array{[]int{2}, []string{"a", "éb"}}},
		{"|S3", "2,", "ab\x00xyz", npz.Array{[]int{2}, []string{"ab", "xyz"}}},
	} {
		t.Run(c.descr, func(t *testing.T) {
			for _, method := range []uint16{zip.Store, zip.Deflate} {
				head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", c.descr, c.shape)
				got, err := read(t, packed(t, method, head, c.data))
				if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s (%s): %v, %v; want %v", c.descr, c.shape, got, expect.Text(err), c.want)
				}
			}
		})
	}
}

// TestWrittenRead reads what Write writes.
func TestWrittenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	want := npz.Array{[]int{2, 1}, []uint8{3, 4}}
	must.Do(t, npz.Write(path, map[string]npz.Array{"x": want, "n": {nil, []float64{7}}}))
	if got, err := read(t, path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, expect.Text(err))
	}
	f := must.Get(npz.Open(path, 1))(t)
	defer f.Close()
	_, err := f.Read("y")
	expect.Refusal(t, "Read", err, "array y: there is none of this name; the arrays are n, x")
	_, err = f.Read("x")
	expect.Refusal(t, "Read", err, "array x: the shape [2 1] has more than 1 bytes")
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ descr, order, shape, data string }{
		{"|O", "False", "2,", "12345678"},
		{"<c8", "False", "2,", "1234567812345678"},
		{"<f4", "False", "2,", "1234"},
		{"<f4", "False", "99999999999, 99999999999", ""},
		{"<f4", "False", "x", ""},
		{"<u8", "False", "2,", "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"}, // above the largest int64
		{">u8", "False", "1,", "\x80\x00\x00\x00\x00\x00\x00\x00"},
	} {
		t.Run(c.descr, func(t *testing.T) {
			head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", c.descr, c.order, c.shape)
			if a, err := read(t, packed(t, zip.Store, head, c.data)); err == nil {
				t.Errorf("%s %s (%s): read as %v", c.descr, c.order, c.shape, a)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	must.Do(t, os.WriteFile(path, []byte("hello"), 0o666))
	_, err := npz.Open(path, 1)
	expect.Refusal(t, "Open", err, "not an .npz file that can be read (numpy.savez writes")
}

// TestHeaders: a header is a Python literal. Headers that NumPy reads are read; the others are
// refused by their cause.
func TestHeaders(t *testing.T) {
	want := []float32{0, 1, 2, 3, 4, 5}
	data := string(must.Get(binary.Append(nil, binary.LittleEndian, want))(t))
	for name, c := range map[string]struct{ head, refused string }{
		"NumPy":                {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", ""},
		"Python 2 on Windows":  {"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }", ""},
		"unicode of Python 2":  {"{u'descr': u'<f4', 'fortran_order': False, 'shape': (2, 3), }", ""},
		"double quotes":        {`{"descr": "<f4", "fortran_order": False, "shape": (2, 3)}`, ""},
		"another order":        {"{'shape':(2,3,),'fortran_order':False,'descr':'<f4'}", ""},
		"line feeds":           {"{\n'descr' : '<f4',\n'fortran_order' : False,\n'shape' : (\n2,\t3 ) }", ""},
		"a long name":          {"{'descr': 'float32', 'fortran_order': False, 'shape': (2, 3)}", ""},
		"a key twice":          {"{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", ""},
		"a list":               {"{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}", "not a tuple"},
		"a number":             {"{'descr': '<f4', 'fortran_order': False, 'shape': (6)}", "not a tuple"},
		"named fields":         {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "named fields"},
		"a field's shape":      {"{'descr': ('<f4', (3,)), 'fortran_order': False, 'shape': (2,)}", "shape of their own"},
		"a negative side":      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}", "has -2"},
		"a float":              {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}", "2.0"},
		"no order":             {"{'descr': '<f4', 'shape': (2, 3)}", "no fortran_order"},
		"order is a number":    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "want True or False"},
		"another key":          {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'a': 1}", "other keys"},
		"JSON":                 {`{"descr": "<f4", "fortran_order": false, "shape": (2, 3)}`, "false"},
		"no commas":            {"{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}", "comma"},
		"an octal number":      {"{'descr': '<f4', 'fortran_order': False, 'shape': (02, 3)}", "02"},
		"two suffixes":         {"{'descr': '<f4', 'fortran_order': False, 'shape': (2LL, 3)}", "2LL"},
		"something after it":   {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x", "not a dictionary"},
		"no end":               {"{'descr': '<f4", "not a dictionary"},
		"brackets in brackets": {strings.Repeat("(", 5000), "not a dictionary"},
		"nothing":              {"", "not a dictionary"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, packed(t, zip.Store, c.head, data))
			switch {
			case c.refused != "":
				expect.Refusal(t, "read", err, c.refused)
			case err != nil || !reflect.DeepEqual(got, npz.Array{[]int{2, 3}, want}):
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// TestFortran reads arrays whose first index changes fastest.
func TestFortran(t *testing.T) {
	for _, c := range []struct{ shape, stored, want string }{
		{"2, 3", "abcdef", "acebdf"}, {"3, 2", "abcdef", "adbecf"}, {"2, 1, 3", "abcdef", "acebdf"},
		{"6,", "abcdef", "abcdef"}, {"", "a", "a"}, {"0, 3", "", ""},
	} {
		t.Run(c.shape, func(t *testing.T) {
			head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': True, 'shape': (%s), }", c.shape)
			got, err := read(t, packed(t, zip.Store, head, c.stored))
			if err != nil || string(got.Data.([]uint8)) != c.want {
				t.Errorf("(%s): %q, %v; want %q", c.shape, got.Data, expect.Text(err), c.want)
			}
		})
	}
}

// TestTwice: NumPy reads the last of two members with the same name, other programs the first.
func TestTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for range 2 {
		must.Get(z.Create("x.npy"))(t)
	}
	must.Do(t, errors.Join(z.Close(), os.WriteFile(path, data.Bytes(), 0o666)))
	_, err := npz.Open(path, 1<<20)
	expect.Refusal(t, "Open", err, "x is in it twice; want one array of each name")
}

// TestBomb refuses zeros that unpack to a thousand times as many bytes, before it takes memory for
// them.
func TestBomb(t *testing.T) {
	const n = 10 << 20
	path := packed(t, zip.Deflate, fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }\n", n),
		strings.Repeat("\x00", n))
	f := must.Get(npz.Open(path, 1<<40))(t)
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := f.Read("x")
	runtime.ReadMemStats(&after)
	if err == nil || after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("%d bytes, %v", after.TotalAlloc-before.TotalAlloc, expect.Text(err))
	}
}
