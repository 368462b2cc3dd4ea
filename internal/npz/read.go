package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
)

// File is an .npz file that is open for reading. Close it when it is no longer needed.
type File struct {
	file   *os.File
	size   int64 // of the file
	limit  int64
	arrays map[string]*zip.File
}

// Open opens a file. An array of more than limit bytes is refused.
func Open(path string, limit int64) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: in, limit: limit, arrays: map[string]*zip.File{}}
	if err := fail.Tried(f.index); err != nil {
		in.Close()
		return nil, fmt.Errorf("%s: not an .npz file that can be read (numpy.savez writes them): %w", path, err)
	}
	return f, nil
}

// index lists the arrays. Two of one name are an error: some programs read the first, others the last.
func (f *File) index() {
	f.size = fail.Or(f.file.Stat()).Size()
	for _, m := range fail.Or(zip.NewReader(f.file, f.size)).File {
		if name, ok := strings.CutSuffix(m.Name, ".npy"); ok {
			fail.When(f.arrays[name] != nil, "%s is in it twice; want one array of each name", name)
			f.arrays[name] = m
		}
	}
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Names returns the names of the arrays, in alphabetical order.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.arrays)) }

// Read reads the array of that name. Its data are a []uint8, []int64, []float32, []float64 or []string: bytes, other
// whole numbers and truth values, numbers of half and single precision, of double precision, and texts.
func (f *File) Read(name string) (_ Array, err error) {
	defer fail.Caught(&err)
	defer fail.At("array " + name)
	m := f.arrays[name]
	fail.When(m == nil, "there is none of this name; the arrays are %s", strings.Join(f.Names(), ", "))
	r := fail.Or(m.Open())
	defer r.Close()
	shape, entries := readHeader(r)
	data := make([]byte, f.bytes(m, shape, entries))
	_, err = io.ReadFull(r, data)
	fail.When(err != nil, "the data end early or are damaged: %w", err)
	fail.Or(io.Copy(io.Discard, io.LimitReader(r, 1))) // which compares the checksum
	return Array{shape, fail.Or(entries.values(data))}, nil
}

// bytes is how many an array has. It is known that they are there, and can be, before memory is taken for what a header promises.
func (f *File) bytes(m *zip.File, shape []int, entries kind) uint64 {
	n := uint64(entries.size)
	for _, d := range shape {
		fail.When(d > 0 && n > uint64(f.limit)/uint64(d), "the shape %v has more than %d bytes", shape, f.limit)
		n *= uint64(d)
	}
	packed := min(m.CompressedSize64, uint64(f.size))
	fail.When(n > min(m.UncompressedSize64, maxShrink*packed), "the shape %v needs %d bytes, and there are fewer: the file is cut off", shape, n)
	memory := n / uint64(entries.size) * uint64(max(entries.size, entryBytes))
	fail.When(n > usualShrink*packed && memory > freeBytes, "%d bytes unpack to %d, more than %d times as many; save it with numpy.savez if that is meant", packed, n, usualShrink)
	return n
}

const (
	maxShrink   = 1100     // nothing deflates to less than this part of itself
	usualShrink = 100      // of data, which are not all alike
	freeBytes   = 64 << 20 // of memory may come of anything, such as labels that are sorted
	entryBytes  = 16       // that a label takes in memory at least
)

var (
	descrKey = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	orderKey = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	shapeKey = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// readHeader reads the beginning of a .npy file.
func readHeader(r io.Reader) (shape []int, entries kind) {
	var head struct {
		Magic   [6]byte
		Version [2]byte
		Length  uint16 // of the text; from version 2 on it has four bytes
	}
	err := binary.Read(r, binary.LittleEndian, &head)
	fail.When(err != nil || string(head.Magic[:]) != "\x93NUMPY", "not a .npy array")
	n := uint32(head.Length)
	if head.Version[0] >= 2 {
		var high uint16
		fail.If(binary.Read(r, binary.LittleEndian, &high))
		n |= uint32(high) << 16
	}
	fail.When(n > 1<<16, "a header of %d bytes", n)
	text := make([]byte, n)
	fail.Or(io.ReadFull(r, text))
	descr, order, dims := descrKey.FindSubmatch(text), orderKey.FindSubmatch(text), shapeKey.FindSubmatch(text)
	fail.When(descr == nil || order == nil || dims == nil, "it has named fields or a header that is not understood: %.80q", text)
	for _, d := range strings.FieldsFunc(string(dims[1]), func(r rune) bool { return r == ',' || r == ' ' }) {
		shape = append(shape, fail.Or(strconv.Atoi(d)))
	}
	fail.When(string(order[1]) == "True" && len(shape) > 1, "it is stored in Fortran's order: save numpy.ascontiguousarray(x) instead")
	return shape, fail.Or(kindOf(string(descr[1])))
}
